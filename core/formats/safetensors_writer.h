// SPDX-License-Identifier: MIT
// Writes a safetensors file (format: safetensors_header.h).
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/formats/safetensors_header.h"

namespace midscope {

// Writes the tensors in the order of their names, with the metadata format = pt that transformers
// requires, and `metadata`. The file takes its name only when it is complete, so an earlier file of
// this name stays intact if writing fails. Throws Error (failure) with the system's reason.
void WriteSafetensors(const std::filesystem::path& path, const SafetensorsTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace midscope
