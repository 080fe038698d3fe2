// SPDX-License-Identifier: MIT
#include "core/model_source.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/embedded_model.h"
#include "core/error.h"
#include "core/folder_model.h"
#include "core/gguf_model.h"
#include "core/model_cache.h"
#include "core/safetensors_file.h"

namespace midscope {
namespace {

// torch.save writes a zip archive, or in old files a bare pickle of protocol 2 and up.
bool IsPickle(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> magic{};
  file.read(magic.data(), magic.size());
  const std::string_view bytes(magic.data(), magic.size());
  return bytes == "PK\x03\x04" || (bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5);
}

std::unique_ptr<ModelSource> OpenFile(const std::filesystem::path& path) {
  if (path.extension() == ".safetensors") {
    throw Failure(path.string(), "holds only weights, without the model's config.json",
                  "Name its folder: " + path.parent_path().string());
  }
  if (IsPickleName(path.filename().string()) || IsPickle(path)) RefusePickle(path);
  return OpenGgufModel(path);
}

std::unique_ptr<ModelSource> OpenFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder / "config.json", error)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() != ".gguf") continue;
      throw Failure(folder.string(), "has no config.json, but a GGUF file",
                    "Name the file: " + entry.path().string());
    }
  }
  return OpenFolderModel(folder);
}

}  // namespace

std::unique_ptr<ModelSource> OpenModel(const std::string& model) {
  if (model == "embedded") return OpenGgufModel(ModelPath(model));
  std::error_code error;
  if (std::filesystem::is_directory(model, error)) return OpenFolder(model);
  if (!std::filesystem::exists(model, error) && IsModelName(model)) {
    if (const auto folder = FindCachedModel(model)) return OpenFolder(*folder);
    throw Failure(model,
                  "is neither a file nor a folder, nor a model in " + HuggingFaceCache().string(),
                  "Check the path");
  }
  return OpenFile(model);
}

}  // namespace midscope
