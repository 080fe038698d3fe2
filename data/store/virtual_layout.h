// SPDX-License-Identifier: MIT
// Data sets whose elements are stored in other files (HDF5's virtual data sets). HDF5 silently
// returns fill values for missing files: readers must check for them first (file_parts.h). Internal
// to data/.
#pragma once

#include <string>
#include <vector>

#include "data/store/hdf5_handles.h"

namespace midscope::hdf5 {

// Smaller arrays of numbers (bytes per sample) are copied into a virtual file, as tables.
inline constexpr int64_t kLargestWrittenBytes = 64 << 10;

// Rows of the first axis: `count` from `here` on are those from `there` on.
struct RowRun {
  hsize_t here = 0;
  hsize_t there = 0;
  hsize_t count = 0;
};

// A data set of another file, and its rows in the virtual one.
struct VirtualSource {
  std::string file;            // relative to the folder of the virtual data set's file
  std::string data_set;        // its path there
  std::vector<hsize_t> sizes;  // all of it
  std::vector<RowRun> rows;    // ascending on both sides
  std::vector<hsize_t> begin;  // where its inner axes begin here: one fewer than its axes
};

// Makes the data set that is created with `create`, of sizes `sizes`, a virtual one. Elements
// without source have the fill value; a source's elements beyond `sizes` are ignored.
void SetVirtual(hid_t create, const std::vector<hsize_t>& sizes,
                const std::vector<VirtualSource>& sources);

// The sources of a virtual data set, as stored in the file.
struct VirtualMapping {
  std::string file;
  std::string data_set;
  std::vector<hsize_t> sizes;  // stated sizes of the data set
};

// Empty if the data set is not virtual. Throws Hdf5Error for names with patterns for many files or
// data sets ("%b"), and for more mappings than Midscope writes.
std::vector<VirtualMapping> VirtualMappings(hid_t data_set);

}  // namespace midscope::hdf5
