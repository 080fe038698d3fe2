// SPDX-License-Identifier: MIT
// Data sets whose elements lie in other files (HDF5's virtual data sets). HDF5 gives fill values,
// without a word, for what it does not find there: whoever reads one looks for its files first
// (file_parts.h). Internal to data/.
#pragma once

#include <string>
#include <vector>

#include "data/store/hdf5_handles.h"

namespace midscope::hdf5 {

// Arrays of numbers that take no more bytes a sample are written into a virtual file, for they are
// tables.
inline constexpr int64_t kLargestWrittenBytes = 64 << 10;

// Rows of the first axis: `count` from `here` on are those from `there` on.
struct RowRun {
  hsize_t here = 0;
  hsize_t there = 0;
  hsize_t count = 0;
};

// A data set of another file, and where its rows stand in the virtual one.
struct VirtualSource {
  std::string file;            // relative to the file that the virtual data set lies in
  std::string data_set;        // its path there
  std::vector<hsize_t> sizes;  // all of it
  std::vector<RowRun> rows;    // ascending on both sides
  std::vector<hsize_t> begin;  // where its inner axes begin here: one less than it has axes
};

// Makes the data set that is created with `create`, of sizes `sizes`, a virtual one. What no source
// covers has the fill value; what a source has beyond `sizes` is left out.
void SetVirtual(hid_t create, const std::vector<hsize_t>& sizes,
                const std::vector<VirtualSource>& sources);

// Where a virtual data set takes elements from, as the file says it.
struct VirtualMapping {
  std::string file;
  std::string data_set;
  std::vector<hsize_t> sizes;  // that the data set is said to have
};

// None where the data set is no virtual one. Throws Hdf5Error for names that stand for many files
// or data sets ("%b"), and for more mappings than Midscope writes.
std::vector<VirtualMapping> VirtualMappings(hid_t data_set);

}  // namespace midscope::hdf5
