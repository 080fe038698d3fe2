// SPDX-License-Identifier: MIT
#include "core/model/model_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/formats/config_json.h"
#include "core/formats/folder_weights.h"
#include "core/formats/gguf_file.h"
#include "core/hub/model_cache.h"
#include "core/model/adapter_file.h"
#include "core/model/changed_source.h"
#include "core/model/folder_model.h"
#include "core/model/gguf_model.h"
#include "core/model/model_text.h"

namespace midscope {

namespace {

// Whether a file was written by torch.save: a zip archive, or in old versions a bare pickle of
// protocol 2 or higher. False for anything but a regular file, which could block when opened.
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

std::vector<std::filesystem::path> GgufModelsIn(const std::filesystem::path& folder,
                                                bool also_below) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  using Below = std::filesystem::recursive_directory_iterator;
  if (also_below) {
    for (const auto& entry : Below(folder, error)) files.push_back(entry.path());
  } else {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      files.push_back(entry.path());
  }
  return GgufModelsAmong(std::move(files));
}

// Returns the folder itself if it contains no GGUF model, else its only GGUF model.
std::filesystem::path ResolveFolder(const std::filesystem::path& folder,
                                    const std::vector<std::filesystem::path>& models) {
  if (models.empty()) return folder;
  if (models.size() == 1) return models.front();
  std::string names;
  for (const auto& file : models) names += (names.empty() ? "" : ", ") + file.string();
  throw Failure(folder.string(), "holds several GGUF files", "Name one of them: " + names);
}

// Returns initializer_range of a folder's config.json, the standard deviation of initial weights.
double FolderDeviation(const std::filesystem::path& folder) {
  const ConfigJson json = ConfigJson::Read(folder / "config.json");
  double deviation = json.PositiveOrZero("initializer_range");
  if (const auto text = json.Object("text_config"); text && text->Has("initializer_range"))
    deviation = text->PositiveOrZero("initializer_range");
  return deviation > 0 ? deviation : kInitialDeviation;
}

// Returns a cached snapshot's folder if it has weights, else its only GGUF file.
std::filesystem::path ResolveSnapshot(const std::filesystem::path& folder) {
  if (HasWeights(folder)) return folder;
  return ResolveFolder(folder, GgufModelsIn(folder, /*also_below=*/true));
}

}  // namespace

std::filesystem::path ResolveModel(const std::string& model) {
  const std::string name = ParseModelText(model).name;
  if (name == "embedded") return ModelPath(name);
  const bool exists = PathExists(name);
  if (!exists && !NearestWord(name, {"embedded"}).empty()) {
    throw Failure(name, "no such file or folder", "Did you mean 'embedded'?");
  }
  const bool is_model_folder = PathExists(std::filesystem::path(name) / "config.json");
  if (exists && std::filesystem::is_directory(name) && !is_model_folder)
    return ResolveFolder(name, GgufModelsIn(name, /*also_below=*/false));
  if (exists || !IsCachedModelName(name)) return name;
  if (const auto folder = FindCachedModel(name)) return ResolveSnapshot(*folder);
  throw Failure(
      name, "is neither a file nor a folder, nor a model in " + HuggingFaceCache().string(),
      "Check the path, or fetch the model: midscope fetch " + name.substr(0, name.find('@')));
}

std::unique_ptr<ModelSource> OpenModel(const std::string& model) {
  const ModelText text = ParseModelText(model);
  const std::filesystem::path path = ResolveModel(model);
  const bool is_folder = IsFolder(path);
  std::unique_ptr<ModelSource> source = is_folder ? OpenFolderModel(path) : OpenFile(path);
  std::optional<AdapterFile> adapter;
  if (!text.adapter.empty()) adapter = ReadAdapterFile(ResolveAdapter(text.adapter), *source);
  if (text.init_seed) {
    const double deviation = is_folder ? FolderDeviation(path) : kInitialDeviation;
    source = WithRandomWeights(std::move(source), *text.init_seed, deviation);
  }
  if (adapter) source = WithAdapter(std::move(source), std::move(*adapter), text.scale);
  return source;
}

RunnableModel OpenRunnableModel(const std::string& model) {
  RunnableModel opened{OpenModel(model), nullptr, {}};
  opened.config = opened.source->config();
  opened.tokenizer = opened.source->MakeTokenizer();
  // Embeddings may have more rows than tokens (padding), or fewer (added tokens).
  opened.tokenizer->SetRows(opened.config.vocabulary);
  const std::vector<std::string>& notes = opened.tokenizer->notes();
  opened.config.notes.insert(opened.config.notes.end(), notes.begin(), notes.end());
  const std::string name = ParseModelText(model).name;
  const std::filesystem::path file = ResolveModel(model);
  if (file != name && PathExists(name) && IsFolder(name)) {
    opened.config.notes.push_back("the folder has no config.json: its only GGUF file, " +
                                  file.filename().string() + ", is opened");
  }
  return opened;
}

namespace {

constexpr const char* kFileName = "SmolLM2-135M-Instruct.Q4_1.gguf";

}  // namespace

std::filesystem::path ModelFolder() {
  if (const std::string folder = Environment("MIDSCOPE_MODELS"); !folder.empty()) return folder;
  return CacheFolder() / "models";
}

std::filesystem::path EmbeddedModelPath() { return ModelFolder() / kFileName; }

std::filesystem::path ModelPath(const std::string& model) {
  if (model != "embedded") return model;
  std::filesystem::path path = EmbeddedModelPath();
  if (!std::filesystem::exists(path)) {
    throw Failure("embedded model", path.string() + " is not there",
                  "Fetch it with `midscope fetch embedded`");
  }
  return path;
}

}  // namespace midscope
