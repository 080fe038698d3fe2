// SPDX-License-Identifier: MIT
// Reads a safetensors file into parts and writes it again, so that tests can rename, add or change
// tensors of a tiny model.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace midscope::test {

struct SafetensorsPart {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};
using SafetensorsParts = std::map<std::string, SafetensorsPart>;

inline SafetensorsParts ReadSafetensors(const std::string& file) {
  uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof size);
  const auto header = nlohmann::json::parse(file.substr(sizeof size, size));
  SafetensorsParts parts;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const size_t begin = entry["data_offsets"][0];
    const size_t end = entry["data_offsets"][1];
    parts[name] = {entry["dtype"], entry["shape"],
                   file.substr(sizeof size + size + begin, end - begin)};
  }
  return parts;
}

inline std::string WriteSafetensors(const SafetensorsParts& parts) {
  nlohmann::json header;
  std::string data;
  for (const auto& [name, part] : parts) {
    header[name] = {{"dtype", part.dtype},
                    {"shape", part.shape},
                    {"data_offsets", {data.size(), data.size() + part.bytes.size()}}};
    data += part.bytes;
  }
  const std::string text = header.dump();
  const uint64_t size = text.size();
  std::string file(sizeof size, '\0');
  std::memcpy(file.data(), &size, sizeof size);
  return file + text + data;
}

}  // namespace midscope::test
