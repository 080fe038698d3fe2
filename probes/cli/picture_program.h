// SPDX-License-Identifier: MIT
// Draws a file's records by running the window's program (midscope-gui --render), so that the
// pictures equal the window's and this program needs no graphics.
#pragma once

#include <string>
#include <vector>

namespace midscope::cli {

// Writes the pictures of `address` into the existing folder as "png", "svg" or "pdf", the outcome
// with the means of the sweeps `references` beside it; returns their
// file names, sorted. Throws Error (failure) where midscope-gui is neither beside this program nor
// in PATH, and where it fails, whose message is on standard error.
std::vector<std::string> DrawPictures(const std::string& address, const std::string& folder,
                                      const std::string& format,
                                      const std::vector<std::string>& references);

}  // namespace midscope::cli
