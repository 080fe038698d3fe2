// SPDX-License-Identifier: MIT
// Reads a file of results by HDF5 in another process, midscope-reader, under limits of memory and
// time: HDF5 1.10 crashes, loops and exhausts the memory on some damaged files. Its replies are not
// trusted more than the file. Internal to data/.
#pragma once

#include <memory>
#include <string>

#include "data/store/run_source.h"

namespace midscope {

// Throws Error (failure) for a file that can't be read, or where midscope-reader is not installed.
std::unique_ptr<RunSource> OpenRunApart(const std::string& path);

}  // namespace midscope
