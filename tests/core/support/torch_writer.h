// SPDX-License-Identifier: MIT
// Writes zip archives and pickles in the format of torch.save, and damaged ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/safetensors_parts.h"

namespace midscope::test {

// One entry of an archive, with the contents of its headers.
struct ZipPart {
  std::string name;
  std::string bytes;
  uint16_t flags = 0;
  uint16_t method = 0;
  bool described = false;       // sizes are written after the data, as in torch.save
  bool zip64 = false;           // sizes are in fields of 8 bytes
  std::string local_name = {};  // name in the local header; empty: `name`
  int64_t extra_local_bytes = 0;
  int64_t offset_change = 0;  // added to the header's offset in the directory
};

inline std::string WriteZip(const std::vector<ZipPart>& parts, bool end64 = false) {
  std::string file;
  std::string directory;
  for (const ZipPart& part : parts) {
    const auto size = static_cast<uint32_t>(part.bytes.size());
    const auto flags = static_cast<uint16_t>(part.flags | (part.described ? 8 : 0));
    const std::string& name = part.local_name.empty() ? part.name : part.local_name;
    const auto local = static_cast<uint32_t>(part.described ? 0 : size + part.extra_local_bytes);
    const auto offset =
        static_cast<uint32_t>(static_cast<int64_t>(file.size()) + part.offset_change);
    file += Raw(0x04034b50u) + Raw<uint16_t>(0) + Raw(flags) + Raw(part.method) + Raw(0u) +
            Raw(0u) + Raw(local) + Raw(local) + Raw(static_cast<uint16_t>(name.size())) +
            Raw<uint16_t>(0) + name + part.bytes;
    if (part.described) file += Raw(0x08074b50u) + Raw(0u) + Raw(size) + Raw(size);
    const std::string extra = part.zip64
                                  ? Raw<uint16_t>(1) + Raw<uint16_t>(24) + Raw<uint64_t>(size) +
                                        Raw<uint64_t>(size) + Raw<uint64_t>(offset)
                                  : "";
    const uint32_t shown = part.zip64 ? UINT32_MAX : size;
    directory += Raw(0x02014b50u) + Raw(0u) + Raw(flags) + Raw(part.method) + Raw(0u) + Raw(0u) +
                 Raw(shown) + Raw(shown) + Raw(static_cast<uint16_t>(part.name.size())) +
                 Raw(static_cast<uint16_t>(extra.size())) + Raw<uint16_t>(0) + Raw(0u) + Raw(0u) +
                 Raw(part.zip64 ? UINT32_MAX : offset) + part.name + extra;
  }
  const uint64_t begin = file.size();
  const auto count = static_cast<uint16_t>(parts.size());
  file += directory;
  if (end64) {
    const uint64_t end = file.size();
    file += Raw(0x06064b50u) + Raw<uint64_t>(44) + Raw(0u) + Raw(0u) + Raw(0u) +
            Raw<uint64_t>(count) + Raw<uint64_t>(count) + Raw<uint64_t>(directory.size()) +
            Raw(begin) + Raw(0x07064b50u) + Raw(0u) + Raw(end) + Raw(1u);
  }
  return file + Raw(0x06054b50u) + Raw(0u) + Raw(count) + Raw(count) +
         Raw(static_cast<uint32_t>(directory.size())) +
         Raw(end64 ? UINT32_MAX : static_cast<uint32_t>(begin)) + Raw<uint16_t>(0);
}

namespace pickle {

inline std::string Text(const std::string& text) {
  return "X" + Raw(static_cast<uint32_t>(text.size())) + text;
}
inline std::string Integer(int64_t number) { return "\x8a\x08" + Raw(number); }
inline std::string Name(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string Tuple(const std::vector<std::string>& items) {
  std::string text = "(";
  for (const std::string& item : items) text += item;
  return text + "t";
}
inline std::string Integers(const std::vector<int64_t>& numbers) {
  std::string text = "(";
  for (const int64_t number : numbers) text += Integer(number);
  return text + "t";
}
inline std::string Storage(const std::string& type, const std::string& key, int64_t elements) {
  return Tuple({Text("storage"), Name("torch", type), Text(key), Text("cpu"), Integer(elements)}) +
         "Q";
}
inline std::string Tensor(const std::string& storage, int64_t offset,
                          const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  return Name("torch._utils", "_rebuild_tensor_v2") +
         Tuple({storage, Integer(offset), Integers(shape), Integers(strides), "\x89",
                Name("collections", "OrderedDict") + ")R"}) +
         "R";
}
// A complete pickle of a dictionary with these names and values.
inline std::string Dictionary(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text = "\x80\x02}(";
  for (const auto& [name, value] : items) text += Text(name) + value;
  return text + "u.";
}

}  // namespace pickle

// The parts of an archive with this pickle and these storages, named data/0, data/1, ...
inline std::vector<ZipPart> TorchParts(const std::string& data_pkl,
                                       const std::vector<std::string>& storages) {
  std::vector<ZipPart> parts = {{"a/data.pkl", data_pkl}, {"a/byteorder", "little"}};
  for (size_t i = 0; i < storages.size(); ++i)
    parts.push_back({"a/data/" + std::to_string(i), storages[i]});
  parts.push_back({"a/version", "3\n"});
  for (ZipPart& part : parts) part.described = !part.bytes.empty();
  return parts;
}

// The tensors of a safetensors file in the format of torch.save. If `tied`, equal tensors share a
// storage.
inline std::string WriteTorch(const SafetensorsParts& tensors, bool tied = false) {
  std::vector<std::pair<std::string, std::string>> items;
  std::vector<std::string> storages;
  std::map<std::string, std::string> keys;  // storage keys by name, or if `tied` by dtype and bytes
  for (const auto& [name, part] : tensors) {
    std::vector<int64_t> strides(part.shape.size(), 1);
    for (size_t i = strides.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * part.shape[i - 1];
    const bool wide = part.dtype == "F32";
    const std::string type =
        wide ? "FloatStorage" : (part.dtype == "F16" ? "HalfStorage" : "BFloat16Storage");
    const auto elements = static_cast<int64_t>(part.bytes.size() / (wide ? 4 : 2));
    const auto [key, is_new] =
        keys.emplace(tied ? part.dtype + part.bytes : name, std::to_string(storages.size()));
    if (is_new) storages.push_back(part.bytes);
    items.emplace_back(
        name, pickle::Tensor(pickle::Storage(type, key->second, elements), 0, part.shape, strides));
  }
  return WriteZip(TorchParts(pickle::Dictionary(items), storages));
}

}  // namespace midscope::test
