// SPDX-License-Identifier: MIT
// Draws the records of a results file with the program midscope-gui (--render), so that pictures
// are the same as in the window and the command line needs no graphics libraries.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"

namespace midscope::cli {

struct PictureRequest {
  std::string address;  // path of a results file, or of a record in it
  std::string format;   // "png", "svg" or "pdf"
  std::string heads;    // heads whose attention is drawn; "": chosen by midscope-gui
  std::vector<std::string> references;  // sweeps whose means are drawn beside the outcome
  std::optional<std::chrono::seconds> limit = {};  // maximum run time of midscope-gui
};

// Returns whether midscope-gui is beside this program or in PATH.
bool CanDrawPictures();

// Writes the pictures into the existing folder, and returns the sorted names of the files. Throws
// Error (failure) if midscope-gui is neither beside this program nor in PATH, takes longer than the
// limit, or fails (its message is then on standard error); Cancelled.
std::vector<std::string> DrawPictures(const PictureRequest& request, const std::string& folder,
                                      const JobContext& job);

}  // namespace midscope::cli
