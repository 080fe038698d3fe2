// SPDX-License-Identifier: MIT
// Stacks the samples of a sweep on an axis `sample`, with padded ragged axes: converts a sample's
// record to a row and back, in memory. Internal to data/.
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
inline constexpr const char* kCountSuffix = "_count";  // AXIS_count [sample]

// The sample number at index `row` of axis `sample`; nullopt if a damaged file has an invalid one:
// NaN, a fraction, less than 0 or more than 2^53.
std::optional<int64_t> SampleNumber(const Axis& samples, int64_t row);

// Moves the labels of a sample's ragged axes to text arrays AXIS_label [AXIS], so that samples
// differ only in arrays. Throws Error (failure) if the record can't be stacked.
Record FlattenSample(Record sample, const std::vector<std::string>& ragged_axes);

// Returns the part that all samples have in common: axes, and arrays without data; ragged axes have
// size 0.
Record SampleFrame(Record flattened, const std::vector<std::string>& ragged_axes);

// Throws Error (failure) that names the first difference between `frame`, of a sample, and
// `others`, of the others.
void CheckSameFrame(const std::string& thing, const Record& frame, const Record& others);

// Sizes of the ragged axes of a sample.
std::map<std::string, int64_t> RaggedSizes(const Record& sample,
                                           const std::vector<std::string>& ragged_axes);

// Returns the stacked record without data: with a first axis `sample`, whose values are `samples`,
// with ragged axes of `largest_sizes`, and with AXIS_count arrays.
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
