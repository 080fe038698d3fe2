// SPDX-License-Identifier: MIT
#include "core/folder_model.h"

#include <span>
#include <utility>
#include <vector>

#include "core/config_json.h"
#include "core/error.h"
#include "core/families/family.h"
#include "core/file_hash.h"
#include "core/model_shapes.h"
#include "core/safetensors_file.h"
#include "core/tensor_table.h"
#include "core/utf8.h"

namespace midscope {
namespace {

const Family& FamilyOf(const ConfigJson& json) {
  const std::string type = json.Text("model_type", "");
  if (const Family* family = FindModelType(type)) return *family;
  std::string supported;
  for (const Family* family : Families()) {
    supported += (supported.empty() ? "" : ", ") + std::string(family->model_type);
  }
  json.Fail(type.empty() ? "model_type is missing"
                         : "the model_type " + Quote(type) + " is not supported yet",
            "Supported: " + supported);
}

ConfigJson ReadJson(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  if (!std::filesystem::exists(path)) {
    throw Failure(folder.string(), "has no config.json, so it is no Hugging Face model",
                  "Name a folder that has one, or a .gguf file");
  }
  return ConfigJson::Read(path);
}

ModelConfig ReadConfig(const ConfigJson& json, const Family& family) {
  // Weights packed by one of many schemes, whose tensors have names and types of their own.
  if (json.Has("quantization_config")) {
    json.Fail("its weights are quantised (quantization_config), which is not supported",
              "Use the model's float weights, or a quantised .gguf file");
  }
  ModelConfig config;
  config.architecture = family.name;
  config.name = json.Text("_name_or_path", "");
  family.read_folder(json, &config);
  CheckModelConfig(config, json.thing());
  return config;
}

kernels::BlockFormat FormatOf(const std::string& name, const SafetensorsTensor& tensor,
                              const std::string& folder) {
  const auto format = [](kernels::BlockType type) {
    return *kernels::FindBlockFormat(static_cast<uint32_t>(type));
  };
  if (tensor.dtype == "F32") return format(kernels::BlockType::kF32);
  if (tensor.dtype == "F16") return format(kernels::BlockType::kF16);
  if (tensor.dtype == "BF16") return format(kernels::BlockType::kBF16);
  throw Failure(
      folder,
      "tensor " + Quote(name, 120) + " has the dtype " + tensor.dtype + ", which is not supported",
      "Supported: F32, F16, BF16");
}

FileTensors WeightsOf(const SafetensorsFile& file, const Family& family,
                      const std::string& folder) {
  FileTensors tensors;
  for (const auto& [name, tensor] : file.tensors()) {
    bool passed_over = false;
    for (const std::string_view ending : family.ignored_endings) {
      passed_over = passed_over || name.ends_with(ending);
    }
    if (passed_over) continue;  // masks and such, of any dtype
    tensors[name] = {tensor.shape, FormatOf(name, tensor, folder), tensor.data, tensor.bytes};
  }
  return tensors;
}

class FolderModel : public ModelSource {
 public:
  explicit FolderModel(const std::filesystem::path& folder)
      : FolderModel(folder, ReadJson(folder)) {}

  const ModelConfig& config() const override { return config_; }
  const TensorRef* Find(const std::string& name) const override { return table_.Find(name); }
  std::unique_ptr<Tokenizer> MakeTokenizer() const override {
    return std::make_unique<Tokenizer>(Tokenizer::FromFolder(folder_));
  }
  std::string path() const override { return folder_.string(); }
  std::string Hash() const override {
    std::vector<std::span<const std::byte>> files;
    for (const MemoryMap& map : file_.maps()) files.push_back(map.bytes());
    std::string hash = HashPieces(files);
    for (const MemoryMap& map : file_.maps()) map.DontNeed(0, map.size());
    return hash;
  }
  void DontNeed(const TensorRef& tensor) const override {
    file_.DontNeed(tensor.data, SpannedBytes(tensor));
  }
  void CheckWhole() const override {
    for (const MemoryMap& map : file_.maps()) map.CheckWhole();
  }

 private:
  FolderModel(const std::filesystem::path& folder, const ConfigJson& json)
      : folder_(folder),
        config_(ReadConfig(json, FamilyOf(json))),
        file_(folder),
        weights_(WeightsOf(file_, FamilyOf(json), folder.string())),
        table_(config_, FamilyOf(json).folder_tensors(json), weights_, {}, folder.string()) {
    CountParameters(weights_, &config_);
    weights_.clear();
  }

  std::filesystem::path folder_;
  ModelConfig config_;
  SafetensorsFile file_;
  FileTensors weights_;
  TensorTable table_;
};

}  // namespace

ModelConfig ReadFolderConfig(const std::filesystem::path& folder) {
  const ConfigJson json = ReadJson(folder);
  return ReadConfig(json, FamilyOf(json));
}

std::unique_ptr<ModelSource> OpenFolderModel(const std::filesystem::path& folder) {
  return std::make_unique<FolderModel>(folder);
}

}  // namespace midscope
