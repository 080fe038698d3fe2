// SPDX-License-Identifier: MIT
// Data sets whose elements are stored in other files (HDF5's virtual data sets). HDF5 silently
// returns fill values if such a file is missing: readers must first check that they exist
// (file_parts.h). Internal to data/.
#pragma once

#include <string>
#include <vector>

#include "data/store/hdf5_handles.h"

namespace midscope::hdf5 {

// Arrays of numbers up to this size (bytes per sample) are copied into a virtual file.
inline constexpr int64_t kLargestWrittenBytes = 64 << 10;

// Maps `count` rows of the first axis: those from `here` in the virtual data set are those from
// `there` in the source.
struct RowRun {
  hsize_t here = 0;
  hsize_t there = 0;
  hsize_t count = 0;
};

// A data set of another file, and the rows that it supplies to the virtual data set.
struct VirtualSource {
  std::string file;            // relative to the folder of the virtual data set's file
  std::string data_set;        // its path in that file
  std::vector<hsize_t> sizes;  // its full sizes
  std::vector<RowRun> rows;    // `here` and `there` ascending
  std::vector<hsize_t> begin;  // offsets of its other axes (all but the first)
};

// Makes the data set of `sizes` that is created with the properties `create` virtual. Elements
// without a source have the fill value; elements of a source beyond `sizes` are ignored.
void SetVirtual(hid_t create, const std::vector<hsize_t>& sizes,
                const std::vector<VirtualSource>& sources);

// A source of a virtual data set, as stored in the file.
struct VirtualMapping {
  std::string file;
  std::string data_set;
  std::vector<hsize_t> sizes;  // sizes of the source according to the mapping
};

// Returns the sources of a data set; empty if it is not virtual. Throws Hdf5Error for names with
// patterns for several files or data sets ("%b"), and if there are more sources than Midscope
// writes.
std::vector<VirtualMapping> VirtualMappings(hid_t data_set);

}  // namespace midscope::hdf5
