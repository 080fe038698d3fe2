// SPDX-License-Identifier: MIT
// Reads a results file with HDF5 in this process. HDF5 1.10 crashes on some damaged files: use this
// only for files with a valid seal (file_seal.h), and in reader processes. Internal to data/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_limits.h"
#include "data/store/file_parts.h"
#include "data/store/hdf5_handles.h"
#include "data/store/run_source.h"

namespace midscope {

// Opens a results file. If `trust` is kSealed and the parts of a virtual file are too large to
// verify (PartsAreChecked), the parts are not opened, and only Contents() is available. Throws
// Error (failure) if the file is truncated, corrupt, of another format or of a later schema.
std::unique_ptr<RunSource> OpenRunHere(const std::string& path, FileTrust trust);

// Functions that read the description of a file of schema 1 and of its records, without array data.

Provenance ReadProvenance(hid_t entry);

// Returns the parts of a virtual file whose group /entry is `entry`; empty for other files.
std::vector<FilePart> ReadParts(hid_t entry);

// Reads a record's axes and attributes, and its arrays without data. `limits`: bounds on plausible
// sizes; `part_roots`: root groups of the opened `parts`. Throws Hdf5Error if the group is
// inconsistent or does not have the structure that Midscope writes (file_structure.h).
Record ReadFrame(hid_t group, const FileLimits& limits, const std::vector<FilePart>& parts,
                 const std::vector<hdf5::Handle>& part_roots);

}  // namespace midscope
