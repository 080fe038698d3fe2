// SPDX-License-Identifier: MIT
// Samples of a sweep stacked on an axis `sample`, with ragged axes padded: converts a sample's
// record to rows and back, without files. Internal to data/.
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

bool HasAxis(const Array& array, const std::string& axis);

// The number of the sample in a row of axis `sample`; nullopt if a damaged file has an invalid one:
// NaN, a fraction, less than 0 or more than 2^53.
std::optional<int64_t> SampleNumber(const Axis& samples, int64_t row);

// A sample's record with the labels of its ragged axes as text arrays AXIS_label [AXIS], so that
// only arrays differ between samples. Throws Error (failure) if the record can't be stacked.
Record FlattenSample(Record sample, const std::vector<std::string>& ragged_axes);

// The common part of all samples: axes, arrays without data; ragged axes have size 0.
Record SampleFrame(Record flattened, const std::vector<std::string>& ragged_axes);

// Throws Error (failure) that names the first difference between a sample's frame and the others'.
void CheckSameFrame(const std::string& thing, const Record& frame, const Record& others);

// Sizes of the ragged axes of a sample.
std::map<std::string, int64_t> RaggedSizes(const Record& sample,
                                           const std::vector<std::string>& ragged_axes);

// The stacked record without data: axis `sample` in front with these numbers as values, ragged axes
// with the given sizes, and AXIS_count arrays.
Record StackedFrame(const Record& sample_frame, const std::vector<int64_t>& samples,
                    const std::map<std::string, int64_t>& largest_sizes);

// One sample of a stacked record's frame. read(array, sizes) returns the first `sizes` indices of
// the row of a stacked array (no sizes: the whole row). Only the arrays that are `wanted`, by name
// (empty: all).
Record ReadSampleRow(
    const Record& stacked,
    const std::function<Array(const Array& array, const std::vector<int64_t>& sizes)>& read,
    const std::function<bool(const std::string& array)>& wanted = {});

}  // namespace midscope
