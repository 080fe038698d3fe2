// SPDX-License-Identifier: MIT
// Writes the samples of a sweep, stacked on an axis, to a file of schema 1. Internal to data/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_parts.h"
#include "data/store/record_group.h"

namespace midscope {

struct SweepContents {
  std::string plan_json;
  Provenance provenance;
  std::vector<std::string> ragged_axes;
  Record frame;  // the common part of all samples (sample_rows.h); unused if there are no samples
  std::map<int64_t, std::map<std::string, int64_t>> ragged_sizes;  // by sample
  std::function<Record(int64_t sample)> load;  // as appended; called in ascending order
  std::map<int64_t, std::string> failures;     // error messages by sample
  std::vector<Record> extra;                   // summaries, written after the samples
  // Arrays of the samples that are stored in other files (`parts`); the copies that `load` returns
  // are not written.
  VirtualArrays elsewhere;
  std::vector<FilePart> parts;
  std::function<void()> before_publish = {};  // as RunFileFrame::before_publish
};

// Returns the samples' record as it is stored, without data: `sample` is the first axis, ragged
// axes have the largest size of any sample.
Record StackedFrameOf(const SweepContents& contents);

// Writes a temporary file and renames it; an existing file is replaced. Throws Error (failure) if
// writing fails, std::logic_error if a record can't be stored.
void WriteSweepFile(const std::string& path, const SweepContents& contents);

}  // namespace midscope
