// SPDX-License-Identifier: MIT
// Safetensors files: the header is 8 bytes of length, JSON, then the tensors' bytes without a gap
// (format: github.com/huggingface/safetensors). Refuses the same files as the reference
// implementation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct SafetensorsTensor {
  std::string dtype;           // "BF16", as named in the format
  std::vector<int64_t> shape;  // outermost first, row-major; may be empty (one element)
  const std::byte* data = nullptr;
  int64_t bytes = 0;
};

using SafetensorsTensors = std::map<std::string, SafetensorsTensor, std::less<>>;

// Returns the tensors of a file; `bytes`: the whole file. Throws Error naming `thing` for a header
// longer than the file or than 100 MB, not UTF-8, not JSON, not beginning with {, duplicate or
// unknown keys, an unknown dtype, a shape that does not match the tensor's size, and tensors that
// overlap, leave gaps, or extend beyond the file.
SafetensorsTensors ParseSafetensorsHeader(std::span<const std::byte> bytes,
                                          const std::string& thing);

// Returns the texts of __metadata__ in the header. Throws Error for an invalid header.
std::map<std::string, std::string> SafetensorsMetadata(std::span<const std::byte> bytes,
                                                       const std::string& thing);

// Writes the tensors in the order of their names, with the metadata format = pt that transformers
// requires, and `metadata`. The file is renamed to `path` only when it is complete, so if writing
// fails, an existing file is unchanged. Throws Error (failure) with the system's reason.
void WriteSafetensors(const std::filesystem::path& path, const SafetensorsTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace midscope
