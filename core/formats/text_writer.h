// SPDX-License-Identifier: MIT
// Makes folders for output, and writes small text files beside weights: configurations, recipes,
// plans.
#pragma once

#include <filesystem>
#include <string>

namespace midscope {

// Makes the folder and those above it, if they do not exist. Throws Error (failure, with that
// remedy).
void MakeFolder(const std::filesystem::path& folder, const std::string& remedy = "");

// Writes the whole file, or leaves one that exists unchanged. Throws Error (failure) if it cannot
// be written.
void WriteTextAt(const std::filesystem::path& path, const std::string& text);

}  // namespace midscope
