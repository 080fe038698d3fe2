// SPDX-License-Identifier: MIT
// Mixtral: mistral with experts in every layer. Its GGUF files are llama's.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::mixtral {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .rope_base = 1e6, .key_value_heads = 8}, config);
  SetWindow(ReadWindow(json, 0), config);
  config->experts = {.count = json.Count("num_local_experts", kMaxExperts, 8),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 2),
                     .width = config->feed_forward,
                     .normalised = true,
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  std::vector<TensorPlace> places = LlamaLikeTensors({});
  AddExpertPlaces({.router = "model.layers.N.block_sparse_moe.gate",
                   .gate = "model.layers.N.block_sparse_moe.experts.E.w1",
                   .up = "model.layers.N.block_sparse_moe.experts.E.w3",
                   .down = "model.layers.N.block_sparse_moe.experts.E.w2"},
                  places);
  return places;
}

}  // namespace

const Family& MixtralFamily() {
  static const Family family = {"mixtral", "mixtral", ReadFolder, FolderTensors,
                                "",        nullptr,   nullptr};
  return family;
}

}  // namespace midscope::mixtral
