// SPDX-License-Identifier: MIT
// Stacks the records of a sweep's samples to one record with a first axis `sample` and padded
// ragged axes, and extracts samples again. All in memory. Internal to data/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

inline constexpr const char* kSampleAxis = "sample";
inline constexpr const char* kCountSuffix = "_count";  // AXIS_count [sample]: sizes of AXIS

// Returns the sample number (axis value) at index `row` of axis `sample`; nullopt if it is invalid
// (NaN, a fraction, negative or more than 2^53), as in a damaged file.
std::optional<int64_t> SampleNumber(const Axis& samples, int64_t row);

// Moves the labels of a sample's ragged axes to text arrays AXIS_label [AXIS], so that samples
// differ only in arrays. Throws Error (failure) if the record can't be stacked.
Record FlattenSample(Record sample, const std::vector<std::string>& ragged_axes);

// Returns the part of a sample's record that all samples have in common: axes, with size 0 for
// ragged axes, and arrays without data.
Record SampleFrame(Record flattened, const std::vector<std::string>& ragged_axes);

// Throws Error (failure), which states the first difference, if a sample's SampleFrame `frame`
// differs from that of the other samples, `others`.
void CheckSameFrame(const std::string& thing, const Record& frame, const Record& others);

// Returns the sizes of the ragged axes in a sample's record, by axis name.
std::map<std::string, int64_t> RaggedSizes(const Record& sample,
                                           const std::vector<std::string>& ragged_axes);

// Returns the stacked record without array data: the first axis is `sample` with the values
// `samples`, ragged axes have the sizes in `largest_sizes`, and arrays AXIS_count are added.
Record StackedFrame(const Record& sample_frame, const std::vector<int64_t>& samples,
                    const std::map<std::string, int64_t>& largest_sizes);

// Returns one sample of a stacked record. read(array, sizes) must return the sample's row of a
// stacked array, cut to the first `sizes` indices (empty: the whole row). Only arrays whose name is
// `wanted` are read (empty: all).
Record ReadSampleRow(
    const Record& stacked,
    const std::function<Array(const Array& array, const std::vector<int64_t>& sizes)>& read,
    const std::function<bool(const std::string& array)>& wanted = {});

}  // namespace midscope
