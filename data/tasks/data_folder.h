// SPDX-License-Identifier: MIT
// Helpers for tasks over a folder of data sets, one per file.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace midscope {

// The outermost group of samples of ZeroSCROLLS's data sets, if a task has several of them.
inline constexpr const char* kZeroScrollsGroup = "ZeroSCROLLS";

// Returns `path` itself if it is a file; for a folder, its files whose names end in one of
// `endings`, ordered by name. Throws Error (failure) if a folder has no such files or can't be
// read.
std::vector<std::string> DataFiles(const std::string& path,
                                   const std::vector<std::string>& endings);

// Returns a pair (data set, item in it) per sample: the first item of each data set, then the
// second of each, so that the first samples cover all data sets. `sizes`: number of items in each.
std::vector<std::pair<size_t, size_t>> RoundRobin(const std::vector<size_t>& sizes);

}  // namespace midscope
