// SPDX-License-Identifier: MIT
#include "core/formats/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/base/file_access.h"

namespace midscope {
namespace {

// The tensors begin at a multiple of this number of bytes.
constexpr size_t kAlignment = 8;

std::string HeaderOf(const SafetensorsTensors& tensors,
                     const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = {{"__metadata__", metadata}};
  header["__metadata__"]["format"] = "pt";
  int64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {begin, begin + tensor.bytes}}};
    begin += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

// Flushes the file to the disk. Returns false, with errno, if that failed.
bool Synchronised(const std::filesystem::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.get() >= 0 && fsync(file.get()) == 0;
}

}  // namespace

void WriteSafetensors(const std::filesystem::path& path, const SafetensorsTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::filesystem::path partial = path.string() + ".partial";
  const std::string header = HeaderOf(tensors, metadata);
  const uint64_t length = header.size();
  std::ofstream file(partial, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const auto& [name, tensor] : tensors)
    file.write(reinterpret_cast<const char*>(tensor.data), tensor.bytes);
  file.close();
  std::error_code failed;
  if (!file || !Synchronised(partial)) {
    failed = std::error_code(errno, std::generic_category());
  } else {
    std::filesystem::rename(partial, path, failed);
  }
  if (!failed) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Failure(path.string(), "it cannot be written: " + failed.message(),
                "Check the folder's permissions and the free space");
}

}  // namespace midscope
