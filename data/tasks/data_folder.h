// SPDX-License-Identifier: MIT
// Helpers for tasks over a folder of data sets, one per file.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace midscope {

// Name of the outermost sample group if a task has several data sets of ZeroSCROLLS.
inline constexpr const char* kZeroScrollsGroup = "ZeroSCROLLS";

// Returns `path` itself if it is a file; for a folder, its files whose names end in one of
// `endings`, ordered by name. Throws Error (failure) if a folder has no such files or can't be
// read.
std::vector<std::string> DataFiles(const std::string& path,
                                   const std::vector<std::string>& endings);

// Returns for each sample the indices (data set, item): first item 0 of each data set, then item 1
// of each, so that the first samples cover all data sets. `sizes`: number of items per data set.
std::vector<std::pair<size_t, size_t>> RoundRobin(const std::vector<size_t>& sizes);

}  // namespace midscope
