// SPDX-License-Identifier: MIT
#include "core/model/model_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/nearest_word.h"
#include "core/formats/folder_weights.h"
#include "core/hub/model_cache.h"
#include "core/model/embedded_model.h"
#include "core/model/folder_model.h"
#include "core/model/gguf_model.h"

namespace midscope {
namespace {

// torch.save writes a zip archive, or in old files a bare pickle of protocol 2 and up.
// Opening anything but a file could wait for ever.
bool IsPickle(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> magic{};
  file.read(magic.data(), magic.size());
  const std::string_view bytes(magic.data(), magic.size());
  return bytes == "PK\x03\x04" || (bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5);
}

std::unique_ptr<ModelSource> OpenFile(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  if (path.extension() == ".safetensors" || IsWeightFileName(name)) {
    throw Failure(path.string(), "holds only weights, without the model's config.json",
                  "Name its folder: " + folder);
  }
  if (path.extension() == ".json") {
    throw Failure(path.string(), "is a part of a model, without its weights",
                  "Name its folder: " + folder);
  }
  if (IsPickleName(name) || IsPickle(path)) RefusePickle(path);
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

// For a snapshot in the cache: users often fetch one GGUF file instead of a folder.
std::filesystem::path ResolveSnapshot(const std::filesystem::path& folder) {
  if (HasWeights(folder)) return folder;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".gguf") files.push_back(entry.path());
  }
  if (files.empty()) return folder;
  if (files.size() == 1) return files.front();
  std::sort(files.begin(), files.end());
  std::string names;
  for (const auto& file : files) names += (names.empty() ? "" : ", ") + file.string();
  throw Failure(folder.string(), "holds several GGUF files", "Name one of them: " + names);
}

}  // namespace

std::filesystem::path ResolveModel(const std::string& model) {
  if (model == "embedded") return ModelPath(model);
  const bool exists = PathExists(model);
  if (!exists && !NearestWord(model, {"embedded"}).empty()) {
    throw Failure(model, "there is no such file or folder", "Did you mean 'embedded'?");
  }
  if (exists || !IsCachedModelName(model)) return model;
  if (const auto folder = FindCachedModel(model)) return ResolveSnapshot(*folder);
  throw Failure(
      model, "is neither a file nor a folder, nor a model in " + HuggingFaceCache().string(),
      "Check the path, or fetch the model: midscope fetch " + model.substr(0, model.find('@')));
}

std::unique_ptr<ModelSource> OpenModel(const std::string& model) {
  const std::filesystem::path path = ResolveModel(model);
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? OpenFolder(path) : OpenFile(path);
}

RunnableModel OpenRunnableModel(const std::string& model) {
  RunnableModel opened{OpenModel(model), nullptr, {}};
  opened.config = opened.source->config();
  opened.tokenizer = opened.source->MakeTokenizer();
  // Either may have more: embeddings are padded, and tokens are added without a row.
  opened.tokenizer->SetRows(opened.config.vocabulary);
  const std::vector<std::string>& notes = opened.tokenizer->notes();
  opened.config.notes.insert(opened.config.notes.end(), notes.begin(), notes.end());
  return opened;
}

}  // namespace midscope
