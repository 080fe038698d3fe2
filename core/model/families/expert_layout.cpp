// SPDX-License-Identifier: MIT
#include "core/model/families/expert_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/utf8.h"
#include "core/model/model_shapes.h"

namespace midscope {

void AddExpertPlaces(const ExpertLayout& layout, std::vector<TensorPlace>& places) {
  const auto add = [&places](std::string_view name, std::string_view file_name,
                             RowPart part = RowPart::kAll, Bias bias = Bias::kNever,
                             TensorEnding ending = TensorEnding::kWeight) {
    if (!file_name.empty()) places.push_back({name, file_name, part, bias, ending});
  };
  add("N.router", layout.router, RowPart::kAll, layout.bias);
  add("N.experts.E.gate", layout.gate, layout.part, layout.bias);
  add("N.experts.E.up", layout.up, layout.part, layout.bias);
  add("N.experts.E.down", layout.down, layout.part, layout.bias);
  add("N.shared.gate", layout.shared_gate_proj);
  add("N.shared.up", layout.shared_up_proj);
  add("N.shared.down", layout.shared_down_proj);
  add("N.shared_gate", layout.shared_gate, layout.shared_gate_part);
  add("N.choice_bias", layout.choice_bias, RowPart::kAll, Bias::kNever, TensorEnding::kBare);
}

void AddStackedExpertPlaces(std::string_view gate_up, std::string_view down, Stacked stacked,
                            TensorEnding ending, std::vector<TensorPlace>& places) {
  const auto add = [&](std::string_view name, std::string_view file_name, RowPart part) {
    places.push_back({name, file_name, part, Bias::kNever, ending,
                      /*transposed=*/stacked != Stacked::kPlain, /*bias_name=*/{},
                      /*maybe_transposed=*/stacked == Stacked::kEither});
  };
  add("N.experts.E.gate", gate_up, RowPart::kExpertGate);
  add("N.experts.E.up", gate_up, RowPart::kExpertUp);
  add("N.experts.E.down", down, RowPart::kExpert);
}

void AddGgufExpertPlaces(std::vector<TensorPlace>& places, Bias bias) {
  AddExpertPlaces({.router = "blk.N.ffn_gate_inp",
                   .gate = "blk.N.ffn_gate_exps",
                   .up = "blk.N.ffn_up_exps",
                   .down = "blk.N.ffn_down_exps",
                   .part = RowPart::kExpert,
                   .shared_gate_proj = "blk.N.ffn_gate_shexp",
                   .shared_up_proj = "blk.N.ffn_up_shexp",
                   .shared_down_proj = "blk.N.ffn_down_shexp",
                   .shared_gate = "blk.N.ffn_gate_inp_shexp",
                   .shared_gate_part = RowPart::kOnlyRow,
                   .choice_bias = "blk.N.exp_probs_b.bias",
                   .bias = bias},
                  places);
}

ExpertSettings ReadGgufExperts(const GgufMetadata& metadata, int64_t layers,
                               std::optional<int64_t> width) {
  ExpertSettings experts;
  experts.count = metadata.CountOrZero("expert_count", kMaxExperts);
  if (experts.count == 0) return experts;
  experts.per_row = metadata.Count("expert_used_count", kMaxExperts);
  experts.width = metadata.Count("expert_feed_forward_length", kMaxWidth, width);
  experts.layers.assign(static_cast<size_t>(layers), true);
  return experts;
}

ExpertSettings ReadGgufGroupedExperts(const GgufMetadata& metadata, int64_t layers) {
  ExpertSettings experts = ReadGgufExperts(metadata, layers);
  experts.shared_width = experts.width * metadata.CountOrZero("expert_shared_count", kMaxExperts);
  experts.normalised = metadata.Flag("expert_weights_norm", false);
  experts.groups = metadata.Count("expert_group_count", kMaxExperts, 1);
  experts.groups_per_row = metadata.Count("expert_group_used_count", kMaxExperts, 1);
  experts.scale = metadata.Positive("expert_weights_scale", 1.0);
  const int64_t dense = metadata.CountOrZero("leading_dense_block_count", kMaxLayers);
  std::fill_n(experts.layers.begin(), std::min(dense, std::ssize(experts.layers)), false);
  return experts;
}

void RequireGgufExperts(const GgufMetadata& metadata) {
  if (metadata.CountOrZero("expert_count", kMaxExperts) == 0)
    metadata.Fail("it has no experts, which is not supported");
}

void RequireGgufSigmoidScores(const GgufMetadata& metadata) {
  constexpr int64_t kSigmoid = 2;
  if (metadata.Count("expert_gating_func", kMaxExperts, kSigmoid) != kSigmoid)
    metadata.Fail("expert_gating_func is not the sigmoid, which is not supported yet");
}

void ReadGgufPredictionLayers(const GgufMetadata& metadata, ModelConfig* config) {
  config->prediction_layers = metadata.CountOrZero("nextn_predict_layers", config->layers - 1);
  config->layers -= config->prediction_layers;
  config->attention.resize(static_cast<size_t>(config->layers));
}

void ReadSparseLayers(const ConfigJson& json, ModelConfig* config) {
  const int64_t step = json.Count("decoder_sparse_step", kMaxLayers, 1);
  const std::vector<int64_t> dense = json.Indices("mlp_only_layers", kMaxLayers);
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    const bool listed = std::find(dense.begin(), dense.end(), layer) != dense.end();
    config->experts.layers.push_back(!listed && (layer + 1) % step == 0);
  }
}

std::vector<bool> ReadMlpTypes(const ConfigJson& json, int64_t layers, int64_t dense) {
  const std::vector<std::string> types = json.Texts("mlp_layer_types");
  if (!types.empty() && std::ssize(types) != layers) {
    json.Fail(
        fmt::format("mlp_layer_types names {} layers; the model has {}", types.size(), layers));
  }
  std::vector<bool> sparse;
  sparse.reserve(static_cast<size_t>(layers));
  for (int64_t layer = 0; layer < layers; ++layer) sparse.push_back(layer >= dense);
  for (size_t layer = 0; layer < types.size(); ++layer) {
    if (types[layer] != "dense" && types[layer] != "sparse")
      json.Fail("mlp_layer_types holds " + Quote(types[layer]), "Supported: dense, sparse");
    sparse[layer] = types[layer] == "sparse";
  }
  return sparse;
}

}  // namespace midscope
