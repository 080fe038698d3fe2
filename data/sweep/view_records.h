// SPDX-License-Identifier: MIT
// A file's records for viewing: quick to read for files of any size.
#pragma once

#include <cstdint>
#include <string>

#include "data/store/record_reader.h"

namespace midscope {

// Arrays over samples with more elements than this are read one sample at a time.
inline constexpr int64_t kLargestViewed = int64_t{1} << 22;

// Removes arrays over samples that are larger from a record; returns whether there were any.
bool DropLarge(Record& record, int64_t largest_elements);

// As ReadRecords, but where a record has an array over `sample` that is larger than
// `largest_elements`, that array is left out, and the record is followed by RECORD_sample with
// sample `row` of it: its axes without `sample`, padding removed, attribute `sample` the sample's
// number.
RunFile ReadForViewing(const std::string& address, int64_t row = 0,
                       int64_t largest_elements = kLargestViewed);

}  // namespace midscope
