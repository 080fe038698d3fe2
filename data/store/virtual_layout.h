// SPDX-License-Identifier: MIT
// Data sets whose elements are stored in other files (HDF5's virtual data sets). HDF5 silently
// returns fill values if such a file is missing: readers must first check that they exist
// (file_parts.h). Internal to data/.
#pragma once

#include <string>
#include <vector>

#include "data/store/hdf5_handles.h"

namespace midscope::hdf5 {

// Maximum bytes per sample of arrays of numbers that are copied into a virtual file; larger arrays
// remain in the other files.
inline constexpr int64_t kLargestWrittenBytes = 64 << 10;

// A range of `count` rows (indices of the first axis) that begins at row `here` of the virtual data
// set and at row `there` of the source data set.
struct RowRun {
  hsize_t here = 0;
  hsize_t there = 0;
  hsize_t count = 0;
};

// A data set of another file, and the rows that it supplies to the virtual data set.
struct VirtualSource {
  std::string file;            // relative to the folder of the virtual data set's file
  std::string data_set;        // path of the data set in that file
  std::vector<hsize_t> sizes;  // full sizes of the source data set
  std::vector<RowRun> rows;    // `here` and `there` ascending
  std::vector<hsize_t> begin;  // offsets in the virtual data set along axes 1, 2, ...
};

// Adds virtual sources to the creation properties `create` of a data set with `sizes`. Elements
// without a source have the fill value; elements of a source beyond `sizes` are ignored.
void SetVirtual(hid_t create, const std::vector<hsize_t>& sizes,
                const std::vector<VirtualSource>& sources);

// A source of a virtual data set, as stored in the file.
struct VirtualMapping {
  std::string file;
  std::string data_set;
  std::vector<hsize_t> sizes;  // sizes of the source according to the mapping
};

// Returns the sources of a virtual data set; empty if it is not virtual. Throws Hdf5Error for
// source names with HDF5's pattern "%b" (several files), and for more sources than Midscope writes.
std::vector<VirtualMapping> VirtualMappings(hid_t data_set);

}  // namespace midscope::hdf5
