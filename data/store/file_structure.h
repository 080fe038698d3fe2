// SPDX-License-Identifier: MIT
// Whether an HDF5 file is built as Midscope builds them, looked at before its data are: what leads
// out of the file, what HDF5 would have to load code for and what claims more than is stored is
// refused. Internal to data/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/store/file_limits.h"
#include "data/store/file_parts.h"
#include "data/store/hdf5_handles.h"

namespace midscope {

// All functions throw Hdf5Error that says what is wrong.

// The number of links and attributes of a group, and that none of its links leads out of the file.
void CheckGroup(hid_t group, const std::string& name);

// Attributes, sizes, filters and where the data lie: in this file, or in one of `parts` at a data
// set that is itself as it must be. `part_roots`: the parts as they are open.
void CheckDataSet(hid_t data_set, const std::string& name, const std::vector<FilePart>& parts,
                  const std::vector<hdf5::Handle>& part_roots, const FileLimits& limits);

}  // namespace midscope
