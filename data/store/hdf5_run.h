// SPDX-License-Identifier: MIT
// Reads a file of results by HDF5 in this process. HDF5 1.10 crashes on some damaged files: only
// for files with a valid seal (file_seal.h), and for midscope-reader. Internal to data/.
#pragma once

#include <memory>
#include <string>

#include "data/store/file_limits.h"
#include "data/store/run_source.h"

namespace midscope {

// Where a virtual file is trusted by its seal, and its parts are too large to compute their
// checksums (PartsAreChecked), they are not opened, and only Contents() is available. Throws Error
// (failure) for a file that is truncated, corrupt, of another kind or of a later schema.
std::unique_ptr<RunSource> OpenRunHere(const std::string& path, FileTrust trust);

}  // namespace midscope
