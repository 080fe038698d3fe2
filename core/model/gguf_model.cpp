// SPDX-License-Identifier: MIT
#include "core/model/gguf_model.h"

#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "core/base/utf8.h"
#include "core/formats/gguf_metadata.h"
#include "core/model/families/family.h"
#include "core/model/model_shapes.h"
#include "core/model/tensor_table.h"
#include "core/model/unsupported_layers.h"

namespace midscope {
namespace {

const Family& FamilyOf(const GgufFile& file) {
  const std::string name = file.GetString("general.architecture").value_or("");
  if (const Family* family = FindGgufArchitecture(name)) return *family;
  std::string supported;
  for (const Family* family : Families()) {
    if (family->gguf_architecture.empty()) continue;
    supported += (supported.empty() ? "" : ", ") + std::string(family->gguf_architecture);
  }
  throw Failure(file.path().string(),
                name.empty() ? "metadata general.architecture is missing"
                             : NotSupported("architecture", name, ShownLayers(file)),
                "Supported: " + supported +
                    ". How to add a family: core/model/families/README.md in Midscope's source");
}

// Returns the file's weights, without the tensors of rope factors, which ReadGgufConfig has read.
FileTensors WeightsOf(const GgufFile& file) {
  FileTensors tensors;
  for (const GgufTensor& tensor : file.tensors()) {
    if (tensor.name.starts_with("rope_f")) continue;
    tensors[tensor.name] = {tensor.shape, tensor.format, tensor.data, tensor.bytes, tensor.name};
  }
  return tensors;
}

// Throws Error for rope factors that were not read, because every rotary angle would be wrong.
void CheckRopeTensors(const GgufFile& file, const ModelConfig& config) {
  if (config.rope_scaling.kind == RopeScalingKind::kLongRope &&
      config.positions == PositionKind::kRotary) {
    return;
  }
  if (config.turning_pairs > 0) return;
  for (const GgufTensor& tensor : file.tensors()) {
    if (!tensor.name.starts_with("rope_f")) continue;
    throw Failure(file.path().string(), "it has a tensor " + Quote(tensor.name) + ", which a " +
                                            config.architecture + " decoder does not follow");
  }
}

// Throws Error if a family without experts has a key with a nonzero number of experts.
void CheckNoExperts(const GgufMetadata& metadata) {
  for (const char* key : {"expert_count", "expert_used_count"}) {
    if (const int64_t value = metadata.CountOrZero(key, kMaxTokens); value != 0) {
      metadata.Fail(metadata.Key(key) + " is " + std::to_string(value) +
                    ", which is not supported yet");
    }
  }
}

class GgufModel : public ModelSource {
 public:
  explicit GgufModel(const std::filesystem::path& path)
      : file_(path),
        config_(ReadGgufConfig(file_)),
        table_(config_, FamilyOf(file_).gguf_tensors(), WeightsOf(file_),
               FamilyOf(file_).ignored_endings, path.string()) {}

  const ModelConfig& config() const override { return config_; }
  const TensorRef* Find(const std::string& name) const override { return table_.Find(name); }
  std::unique_ptr<Tokenizer> MakeTokenizer() const override {
    return std::make_unique<Tokenizer>(file_);
  }
  std::string path() const override { return file_.path().string(); }
  std::string Hash() const override { return HashMaps(file_.maps()); }
  void CheckWhole() const override {
    for (const MemoryMap& map : file_.maps()) map.CheckWhole();
  }
  void DontNeed(const TensorRef& tensor) const override {
    file_.DontNeed(tensor.data, SpannedBytes(tensor));
  }

 private:
  GgufFile file_;
  ModelConfig config_;
  TensorTable table_;
};

}  // namespace

ModelConfig ReadGgufConfig(const GgufFile& file) {
  const Family& family = FamilyOf(file);
  ModelConfig config;
  config.architecture = family.name;
  config.name = file.GetString("general.name").value_or("");
  const GgufMetadata metadata(file, std::string(family.gguf_architecture));
  family.read_gguf(metadata, &config);
  if (config.experts.count == 0) CheckNoExperts(metadata);
  CheckModelConfig(config, file.path().string());
  CheckRopeTensors(file, config);
  metadata.CheckAllRead();
  CountParameters(WeightsOf(file), &config);
  return config;
}

std::unique_ptr<ModelSource> OpenGgufModel(const std::filesystem::path& path) {
  return std::make_unique<GgufModel>(path);
}

}  // namespace midscope
