// SPDX-License-Identifier: MIT
// The description of a file of schema 1 and of its records, without data. Internal to data/.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_limits.h"
#include "data/store/file_parts.h"
#include "data/store/hdf5_handles.h"

namespace midscope {

Provenance ReadProvenance(hid_t entry);

// Of a virtual file; empty for others.
std::vector<FilePart> ReadParts(hid_t entry);

// A record's axes and attributes, and its arrays without data. `limits`: bounds on plausible sizes;
// `part_roots`: the open parts. Throws Hdf5Error where the group is inconsistent or does not have
// the structure that Midscope writes (file_structure.h).
Record ReadFrame(hid_t group, const FileLimits& limits, const std::vector<FilePart>& parts,
                 const std::vector<hdf5::Handle>& part_roots);

}  // namespace midscope
