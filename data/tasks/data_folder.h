// SPDX-License-Identifier: MIT
// Tasks over a folder of data sets, one file each.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace midscope {

// The file itself, or the folder's files whose names end in one of `endings`, in the order of their
// names. Throws Error (failure) if a folder has none or can't be read.
std::vector<std::string> DataFiles(const std::string& path,
                                   const std::vector<std::string>& endings);

// [sample] (data set, item in it): the first item of each data set, then the second of each, so
// that the first samples are of all of them. sizes: number of items of each.
std::vector<std::pair<size_t, size_t>> RoundRobin(const std::vector<size_t>& sizes);

}  // namespace midscope
