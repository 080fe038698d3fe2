// SPDX-License-Identifier: MIT
// Checks the structure of an HDF5 file before its data are read: rejects links to other files,
// features for which HDF5 would load code, and sizes beyond the stored bytes. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/store/file_limits.h"
#include "data/store/file_parts.h"
#include "data/store/hdf5_handles.h"

namespace midscope {

// All functions throw Hdf5Error, which states the reason, if a check fails.

// Checks the number of links and attributes of a group, and that no link leads to another file.
void CheckGroup(hid_t group, const std::string& name);

// Checks a data set: its attributes, sizes and filters, and that its data are stored in this file
// or in a data set of one of `parts` that passes the same checks. `part_roots`: root groups of the
// opened `parts`.
void CheckDataSet(hid_t data_set, const std::string& name, const std::vector<FilePart>& parts,
                  const std::vector<hdf5::Handle>& part_roots, const FileLimits& limits);

}  // namespace midscope
