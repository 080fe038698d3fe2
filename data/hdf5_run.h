// SPDX-License-Identifier: MIT
// A file of results read by HDF5 in this process. HDF5 1.10 crashes on some damaged files: this is
// for files with an intact seal of ours (file_seal.h), and for midscope-reader. Internal to data/.
#pragma once

#include <memory>
#include <string>

#include "data/run_source.h"

namespace midscope {

// Of a virtual file whose parts are too large for their checksums to be computed at once
// (PartsAreChecked): kLeave does not open them, and gives no more than Contents().
enum class UncheckedParts { kLeave, kOpen };

// Throws Error (failure) for a file that is cut off, corrupt, of another kind or of a later schema.
std::unique_ptr<RunSource> OpenRunHere(const std::string& path, UncheckedParts unchecked_parts);

}  // namespace midscope
