// SPDX-License-Identifier: MIT
// Mistral: llama with a sliding window in every layer; Ministral: in some. Their GGUF files are
// llama's.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope {
namespace {

constexpr int64_t kWindow = 4096;

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  // transformers: 4,096 where the key is absent, none where it is null.
  const int64_t window = ReadWindow(json, kWindow);
  for (LayerAttention& layer : config->attention) layer.window = window;
}

void ReadMinistral(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  ReadLayerTypes(
      json, ReadWindow(json, kWindow), [](int64_t, int64_t) { return true; }, 0, config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) { return LlamaLikeTensors({}); }

}  // namespace

const Family& MistralFamily() {
  static const Family family = {"mistral", "mistral", ReadFolder, FolderTensors,
                                "",        nullptr,   nullptr,    {".rotary_emb.inv_freq"}};
  return family;
}

const Family& MinistralFamily() {
  static const Family family = {"ministral", "ministral", ReadMinistral, FolderTensors,
                                "",          nullptr,     nullptr};
  return family;
}

}  // namespace midscope
