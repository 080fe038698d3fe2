// SPDX-License-Identifier: MIT
// Pictures of a file's records. The window's own program draws them (midscope-gui --render), so
// that they are the window's, and so that this program needs no graphics.
#pragma once

#include <string>
#include <vector>

namespace midscope::cli {

// Writes the pictures of `address` into the folder, which exists, as "png", "svg" or "pdf"; their
// file names, sorted. Throws Error: (failure) where midscope-gui lies neither beside this program
// nor in PATH, and where it fails, which it has told to standard error.
std::vector<std::string> DrawPictures(const std::string& address, const std::string& folder,
                                      const std::string& format);

}  // namespace midscope::cli
