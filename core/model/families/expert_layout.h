// SPDX-License-Identifier: MIT
// Functions for families with experts: which layers have them, and where their tensors are.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/families/family.h"

namespace midscope {

// The file's names of expert tensors. Empty: the family has no such tensor.
struct ExpertLayout {
  std::string_view router = "model.layers.N.mlp.gate";
  std::string_view gate = "model.layers.N.mlp.experts.E.gate_proj";
  std::string_view up = "model.layers.N.mlp.experts.E.up_proj";
  std::string_view down = "model.layers.N.mlp.experts.E.down_proj";
  RowPart part = RowPart::kAll;  // kExpert: one tensor for all experts of a layer
  std::string_view shared_gate_proj = {};
  std::string_view shared_up_proj = {};
  std::string_view shared_down_proj = {};
  std::string_view shared_gate = {};
  RowPart shared_gate_part = RowPart::kAll;
  std::string_view choice_bias = {};
  Bias bias = Bias::kNever;  // whether router and experts have biases
};
void AddExpertPlaces(const ExpertLayout& layout, std::vector<TensorPlace>& places);
enum class Stacked { kPlain, kTransposed, kEither };  // kEither: its shape says which
// Adds the places of all experts of a layer in two tensors: `gate_up` [expert, gate then up,
// inputs] and `down` [expert, outputs, width]; each expert's matrices may be transposed.
void AddStackedExpertPlaces(std::string_view gate_up, std::string_view down, Stacked stacked,
                            TensorEnding ending, std::vector<TensorPlace>& places);
// The layout of folders with shared experts and a bias used only for the choice (deepseek_v3,
// glm4_moe).
inline constexpr ExpertLayout kSharedExperts = {
    .shared_gate_proj = "model.layers.N.mlp.shared_experts.gate_proj",
    .shared_up_proj = "model.layers.N.mlp.shared_experts.up_proj",
    .shared_down_proj = "model.layers.N.mlp.shared_experts.down_proj",
    .choice_bias = "model.layers.N.mlp.gate.e_score_correction_bias"};

// Adds the places of experts as GGUF files name them. Places that a model does not have are
// ignored. `bias`: whether router and experts have biases.
void AddGgufExpertPlaces(std::vector<TensorPlace>& places, Bias bias = Bias::kNever);
// Reads the settings of a GGUF file's experts, which hold for all layers: their number, the number
// that a row uses, and their width (`width` if the file does not state it). Returns settings
// without experts if the file has none.
ExpertSettings ReadGgufExperts(const GgufMetadata& metadata, int64_t layers,
                               std::optional<int64_t> width = std::nullopt);
// Like ReadGgufExperts, with shared experts, groups, scale and first layers without experts. The
// family sets how experts are scored.
ExpertSettings ReadGgufGroupedExperts(const GgufMetadata& metadata, int64_t layers);

// Throws Error if the file has no experts.
void RequireGgufExperts(const GgufMetadata& metadata);
// Throws Error if the file states that experts are scored in another way than by the sigmoid.
void RequireGgufSigmoidScores(const GgufMetadata& metadata);

// Excludes the last layers, which predict later tokens but are included in block_count.
void ReadGgufPredictionLayers(const GgufMetadata& metadata, ModelConfig* config);

// Reads which layers have experts as in qwen2_moe and qwen3_moe: layers in mlp_only_layers have
// none; of the others, every decoder_sparse_step-th has.
void ReadSparseLayers(const ConfigJson& json, ModelConfig* config);
// Returns [layer]: whether the layer is sparse, by mlp_layer_types; without that key, all layers
// after the `dense` first ones are.
std::vector<bool> ReadMlpTypes(const ConfigJson& json, int64_t layers, int64_t dense);

}  // namespace midscope
