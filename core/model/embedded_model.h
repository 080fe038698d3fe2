// SPDX-License-Identifier: MIT
// Locations of models: the name `embedded` and the cache folder.
#pragma once

#include <filesystem>
#include <string>

namespace midscope {

// $MIDSCOPE_MODELS, else $XDG_CACHE_HOME/midscope/models, else ~/.cache/midscope/models.
std::filesystem::path ModelFolder();

// The path of a model from the user's name: "embedded", or a path. Throws Error where the embedded
// model has not been fetched yet.
std::filesystem::path ModelPath(const std::string& model);

}  // namespace midscope
