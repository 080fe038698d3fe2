// SPDX-License-Identifier: MIT
// Pictures of a file's records. The window's own program draws them (midscope-gui --render), so
// that they are the window's, and so that this program needs no graphics.
#pragma once

#include <string>

namespace midscope::cli {

// Writes the pictures of `address` into the folder, as "png", "svg" or "pdf"; the program prints
// their paths to standard output. Throws Error: (failure) where midscope-gui lies neither beside
// this program nor in PATH, and where it fails, which it has told to standard error.
void DrawPictures(const std::string& address, const std::string& folder, const std::string& format);

}  // namespace midscope::cli
