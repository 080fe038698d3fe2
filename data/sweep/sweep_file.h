// SPDX-License-Identifier: MIT
// Writes a sweep's samples, stacked on an axis, to a file of schema 1 (run_store.h). Internal to
// data/.
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
  Record frame;  // common part of all samples (SampleFrame); unused without samples
  std::map<int64_t, std::map<std::string, int64_t>> ragged_sizes;  // by sample, axis name
  std::function<Record(int64_t sample)> load;  // returns a sample; called in ascending order
  std::map<int64_t, std::string> failures;     // [sample number]: error message
  std::vector<Record> extra;                   // summaries, written after the samples
  // Arrays whose data remain in other files (`parts`) and are not written, even if `load` returns
  // them.
  VirtualArrays elsewhere;
  std::vector<FilePart> parts;
  std::function<void()> before_publish = {};  // called before the file is renamed
};

// Returns the record that the file stores for all samples, without array data: `sample` is the
// first axis, ragged axes have the largest size of any sample.
Record StackedFrameOf(const SweepContents& contents);

// Writes a temporary file and renames it; an existing file is replaced. Throws Error (failure) if
// writing fails, std::logic_error if a record can't be stored.
void WriteSweepFile(const std::string& path, const SweepContents& contents);

}  // namespace midscope
