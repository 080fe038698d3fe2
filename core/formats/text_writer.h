// SPDX-License-Identifier: MIT
// Writes small text files beside weights: configurations, recipes, plans.
#pragma once

#include <filesystem>
#include <string>

namespace midscope {

// Writes the whole file, or leaves one that exists unchanged. Throws Error (failure) if it cannot
// be written.
void WriteTextAt(const std::filesystem::path& path, const std::string& text);

}  // namespace midscope
