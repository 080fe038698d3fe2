// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_virtual.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/store/file_parts.h"
#include "data/store/hdf5_values.h"
#include "data/store/sample_rows.h"
#include "data/sweep/sweep_file.h"
#include "data/sweep/sweep_settings.h"

namespace midscope {
namespace {

constexpr const char* kCopyInstead = "Join without --virtual, which copies";

void CheckCanBePointedInto(const SweepStore& input) {
  for (const int64_t sample : input.finished()) {
    if (input.FileRow(sample)) continue;
    throw UsageError(
        input.path(),
        fmt::format("sample {} waits in its journal, where HDF5 does not find it", sample),
        "Merge the journal into a file first: midscope merge NEW.h5 " + input.path());
  }
  if (input.file() && !input.file()->parts().empty()) {
    throw UsageError(input.path(), "it is a virtual file itself", "Give its parts instead");
  }
}

// Returns the common part (SampleFrame) of all samples of the merged file; empty without samples.
Record CommonFrame(const SweepMerge& merge) {
  Record frame;
  for (const SweepStore& input : merge.inputs()) {
    if (!input.common_frame()) continue;
    const Record& common = *input.common_frame();
    if (frame.name.empty()) {
      frame = common;
    } else if (merge.joins_settings()) {
      JoinSettings(frame, common, input.path());
    } else {
      CheckSameFrame(input.path(), common, frame);
    }
  }
  return frame;
}

// Whether an array's data stay in the input files, so that the merged file only refers to them.
bool StaysInPart(const Record& stacked, const Array& array,
                 const std::map<std::string, int64_t>& ragged) {
  if (array.name.ends_with(kCountSuffix) && array.axes.size() == 1) return false;
  const bool is_short = std::find(std::begin(kSampleTexts), std::end(kSampleTexts), array.name) !=
                        std::end(kSampleTexts);
  if (is_short) return false;
  if (std::holds_alternative<std::vector<std::string>>(array.data)) return true;
  auto bytes = static_cast<int64_t>(hdf5::ElementBytes(array.data));
  for (size_t i = 1; i < array.axes.size(); ++i) {
    if (ragged.contains(array.axes[i])) return true;
    bytes *= stacked.FindAxis(array.axes[i])->size;
  }
  return bytes > hdf5::kLargestWrittenBytes;
}

// Returns the rows of the merged file whose samples `input` contains, with their rows in `input`.
std::vector<hdf5::RowRun> RowsOf(const SweepMerge& merge, const SweepStore& input) {
  std::vector<hdf5::RowRun> rows;
  hsize_t here = 0;
  for (const int64_t sample : merge.samples()) {
    const hsize_t row = here++;
    const JoinedPart part = merge.PartOf(sample);
    if (!merge.joins_settings() && &part.input != &input) continue;
    const auto there = static_cast<hsize_t>(*input.FileRow(part.sample));
    if (!rows.empty() && rows.back().here + rows.back().count == row &&
        rows.back().there + rows.back().count == there) {
      ++rows.back().count;
    } else {
      rows.push_back({row, there, 1});
    }
  }
  return rows;
}

// An input file of the merge, its stacked record and the rows that it supplies.
struct Part {
  const SweepStore* store = nullptr;
  FilePart file;
  Record stacked;
  std::vector<hdf5::RowRun> rows;
};

std::vector<Part> PartsOf(const SweepMerge& merge, const std::string& path) {
  std::vector<Part> parts;
  for (const SweepStore& input : merge.inputs()) {
    CheckCanBePointedInto(input);
    if (input.finished().empty()) continue;
    parts.push_back({&input, MakeFilePart(input.path(), path),
                     input.file()->Describe(input.record_name()), RowsOf(merge, input)});
  }
  return parts;
}

std::vector<hdf5::VirtualSource> SourcesOf(const std::vector<Part>& parts, const Array& array,
                                           bool joins_settings) {
  std::vector<hdf5::VirtualSource> sources;
  hsize_t settings = 0;  // number of settings in the parts before this one
  for (const Part& part : parts) {
    // Skips an array that the part omits because all elements have the default (sweep_settings.h):
    // HDF5 then returns the fill value, which equals the default.
    if (joins_settings && IsOverSettings(array) && !part.stacked.FindArray(array.name)) {
      settings += static_cast<hsize_t>(part.stacked.FindAxis(kSettingAxis)->size);
      continue;
    }
    hdf5::VirtualSource source;
    source.file = part.file.file;
    source.data_set = part.store->file()->GroupPath(part.store->record_name()) + "/" + array.name;
    source.rows = part.rows;
    for (const std::string& name : array.axes) {
      source.sizes.push_back(static_cast<hsize_t>(part.stacked.FindAxis(name)->size));
      if (name != kSampleAxis) source.begin.push_back(name == kSettingAxis ? settings : 0);
    }
    sources.push_back(std::move(source));
    if (!joins_settings) continue;
    if (!IsOverSettings(array)) break;  // data come from the first part, as SweepMerge copies
    settings += static_cast<hsize_t>(part.stacked.FindAxis(kSettingAxis)->size);
  }
  return sources;
}

}  // namespace

bool WriteVirtualSweep(const std::string& path, const SweepMerge& merge,
                       const Provenance& provenance, const std::vector<Record>& extra) {
  const std::vector<Part> parts = PartsOf(merge, path);
  if (parts.empty()) throw UsageError(path, "no input holds a sample", kCopyInstead);
  SweepContents contents;
  contents.plan_json = merge.plan_json();
  contents.provenance = provenance;
  contents.ragged_axes = SweepStoreOptions().ragged_axes;
  contents.frame = CommonFrame(merge);
  for (const int64_t sample : merge.samples()) {
    const JoinedPart part = merge.PartOf(sample);
    contents.ragged_sizes[sample] = part.input.RaggedSizesOf(part.sample);
  }
  const Record stacked = StackedFrameOf(contents);
  for (const Array& array : stacked.arrays) {
    if (StaysInPart(stacked, array, contents.ragged_sizes.begin()->second)) {
      contents.elsewhere[array.name] = SourcesOf(parts, array, merge.joins_settings());
    }
  }
  for (const Part& part : parts) {
    if (!contents.elsewhere.empty()) contents.parts.push_back(part.file);
  }
  // Also reads arrays that describe prompts, to check that joined settings have the same prompts.
  const auto wanted = [&](const std::string& name) {
    const Array* array = stacked.FindArray(name);
    const bool whole = array && std::holds_alternative<std::vector<int64_t>>(array->data);
    return !contents.elsewhere.contains(name) || (merge.joins_settings() && whole);
  };
  contents.load = [&](int64_t sample) { return merge.ReadSample(sample, wanted); };
  contents.failures = merge.failures();
  contents.extra = extra;
  WriteSweepFile(path, contents);
  return !contents.elsewhere.empty();
}

}  // namespace midscope
