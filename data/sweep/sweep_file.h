// SPDX-License-Identifier: MIT
// Writes the samples of a sweep, stacked, to a file of schema 1. Internal to data/.
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
  Record frame;  // the common part of all samples (sample_rows.h); unused if there are none
  std::map<int64_t, std::map<std::string, int64_t>> ragged_sizes;  // of every sample
  std::function<Record(int64_t sample)> load;  // as appended; called once per sample, ascending
  std::map<int64_t, std::string> failures;     // sample: reason
  std::vector<Record> extra;                   // summaries, written after the samples
  // Arrays of the samples that are stored in other files, and those files; these arrays of `load`
  // are not written.
  VirtualArrays elsewhere;
  std::vector<FilePart> parts;
  std::function<void()> before_publish = {};  // as that of RunFileFrame
};

// The samples' record as stored, without data: axis `sample` in front, ragged axes as long as the
// longest.
Record StackedFrameOf(const SweepContents& contents);

// Writes a temporary file and renames it; an older file is replaced. Throws Error (failure),
// std::logic_error for records that can't be stored.
void WriteSweepFile(const std::string& path, const SweepContents& contents);

}  // namespace midscope
