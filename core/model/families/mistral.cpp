// SPDX-License-Identifier: MIT
// Mistral: llama with a sliding window in every layer. Its GGUF files are llama's.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  // transformers: 4,096 where the key is absent, none where it is null.
  int64_t window = 0;
  if (!json.IsNull("sliding_window")) window = json.Count("sliding_window", kMaxTokens, 4096);
  for (LayerAttention& layer : config->attention) layer.window = window;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) { return LlamaLikeTensors({}); }

}  // namespace

const Family& MistralFamily() {
  static const Family family = {"mistral", "mistral", ReadFolder, FolderTensors,
                                "",        nullptr,   nullptr,    {".rotary_emb.inv_freq"}};
  return family;
}

}  // namespace midscope
