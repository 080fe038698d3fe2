// SPDX-License-Identifier: MIT
// What a file of schema 1 says about itself and its records, without their data. Internal to data/.
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

// A record's axes and attributes, and its arrays without their data. `limits`: by which
// sizes that can't be true are told; `part_roots`: the parts as they are open. Throws Hdf5Error
// where the group contradicts itself or is not built as Midscope builds them (file_structure.h).
Record ReadFrame(hid_t group, const FileLimits& limits, const std::vector<FilePart>& parts,
                 const std::vector<hdf5::Handle>& part_roots);

}  // namespace midscope
