// SPDX-License-Identifier: MIT
// A file of results read by HDF5 in this process. HDF5 1.10 crashes on some damaged files: this is
// for files with an intact seal of ours (file_seal.h), and for midscope-reader. Internal to data/.
#pragma once

#include <memory>
#include <string>

#include "data/store/file_limits.h"
#include "data/store/run_source.h"

namespace midscope {

// Where a virtual file is trusted as sealed, and its parts are too large for their checksums to be
// computed (PartsAreChecked), they are not opened, and it gives no more than Contents(). Throws
// Error (failure) for a file that is cut off, corrupt, of another kind or of a later schema.
std::unique_ptr<RunSource> OpenRunHere(const std::string& path, FileTrust trust);

}  // namespace midscope
