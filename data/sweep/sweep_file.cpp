// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_file.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "data/store/run_file_writer.h"
#include "data/store/run_store.h"
#include "data/store/sample_rows.h"
#include "data/sweep/sweep_store.h"

namespace midscope {
namespace {

constexpr int kGzipLevel = 4;

void WriteSamples(hid_t entry, const std::string& group, const Record& stacked,
                  const SweepContents& contents, const std::function<void()>& check) {
  // Large and ragged arrays get chunks of one sample, so that single samples can be read.
  const std::map<std::string, int64_t>& ragged = contents.ragged_sizes.begin()->second;
  std::vector<std::string> row_arrays;
  for (const Array& array : stacked.arrays) {
    const bool is_ragged = std::any_of(array.axes.begin(), array.axes.end(),
                                       [&](const auto& name) { return ragged.count(name) > 0; });
    if (is_ragged) row_arrays.push_back(array.name);
  }
  RecordGroupWriter writer(entry, group, stacked, kGzipLevel, row_arrays, contents.elsewhere);
  int64_t row = 0;
  for (const auto& [number, ragged_sizes] : contents.ragged_sizes) {
    const Record sample = FlattenSample(contents.load(number), contents.ragged_axes);
    for (const Array& array : sample.arrays) {
      if (contents.elsewhere.contains(array.name)) continue;
      std::vector<int64_t> sizes;
      for (const std::string& name : array.axes) sizes.push_back(sample.FindAxis(name)->size);
      writer.WriteRow(array.name, row, array.data, sizes);
    }
    for (const auto& [name, size] : ragged_sizes) {
      writer.WriteRow(name + kCountSuffix, row, std::vector<int64_t>{size}, {});
    }
    ++row;
    check();
  }
}

}  // namespace

Record StackedFrameOf(const SweepContents& contents) {
  std::vector<int64_t> samples;
  std::map<std::string, int64_t> largest;
  for (const auto& [sample, sizes] : contents.ragged_sizes) {
    samples.push_back(sample);
    for (const auto& [name, size] : sizes) largest[name] = std::max(largest[name], size);
  }
  return StackedFrame(contents.frame, samples, largest);
}

void WriteSweepFile(const std::string& path, const SweepContents& contents) {
  std::vector<Record> records;  // first the stacked samples, if there are any
  if (!contents.ragged_sizes.empty()) records.push_back(StackedFrameOf(contents));
  const size_t stacked = records.size();
  records.insert(records.end(), contents.extra.begin(), contents.extra.end());
  if (!contents.failures.empty()) records.push_back(FailuresRecord(contents.failures));
  for (size_t i = stacked; i < records.size(); ++i) CheckStorable(records[i]);

  const std::vector<std::string> groups = GroupNames(records);
  const RunFileFrame frame{groups.empty() ? "" : groups.front(), contents.plan_json, true,
                           contents.parts, contents.before_publish};
  const auto fill = [&](hid_t entry, const std::function<void()>& check) {
    if (stacked > 0) WriteSamples(entry, groups[0], records[0], contents, check);
    for (size_t i = stacked; i < records.size(); ++i) {
      RecordGroupWriter writer(entry, groups[i], records[i], kGzipLevel);
      for (const Array& array : records[i].arrays) writer.Write(array.name, array.data);
      check();
    }
  };
  WriteRunFile(path, contents.provenance, frame, fill);
}

}  // namespace midscope
