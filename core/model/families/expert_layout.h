// SPDX-License-Identifier: MIT
// Functions for mixtures of experts: which layers have experts, and their tensors' names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/families/family.h"

namespace midscope {

// Names of expert tensors in a Hugging Face folder. Empty: the family has no such tensor.
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
enum class Stacked { kPlain, kTransposed, kEither };  // kEither: decided by the tensor's shape
// Adds the places of expert tensors that stack all experts of a layer: `gate_up` [expert, gate then
// up, inputs] and `down` [expert, outputs, width]. Each expert's matrix may be transposed.
void AddStackedExpertPlaces(std::string_view gate_up, std::string_view down, Stacked stacked,
                            TensorEnding ending, std::vector<TensorPlace>& places);
// Tensor names in folders with shared experts and a bias used only to choose experts (deepseek_v3,
// glm4_moe).
inline constexpr ExpertLayout kSharedExperts = {
    .shared_gate_proj = "model.layers.N.mlp.shared_experts.gate_proj",
    .shared_up_proj = "model.layers.N.mlp.shared_experts.up_proj",
    .shared_down_proj = "model.layers.N.mlp.shared_experts.down_proj",
    .choice_bias = "model.layers.N.mlp.gate.e_score_correction_bias"};

// Adds the places of expert tensors under their names in GGUF files. Places that a model does not
// need are ignored. `bias`: whether router and experts have biases.
void AddGgufExpertPlaces(std::vector<TensorPlace>& places, Bias bias = Bias::kNever);
// Reads the expert settings of a GGUF file, in which all layers have experts: their number, the
// number used per token, and their width (`width` if the file does not contain it). Returns
// settings without experts if the file has none.
ExpertSettings ReadGgufExperts(const GgufMetadata& metadata, int64_t layers,
                               std::optional<int64_t> width = std::nullopt);
// Reads expert settings as ReadGgufExperts does, and also shared experts, groups, scale and the
// number of first layers without experts. The family must set the kind of scores.
ExpertSettings ReadGgufGroupedExperts(const GgufMetadata& metadata, int64_t layers);

// Throws Error if the file has no experts.
void RequireGgufExperts(const GgufMetadata& metadata);
// Throws Error if the file states a scoring function of experts other than the sigmoid.
void RequireGgufSigmoidScores(const GgufMetadata& metadata);

// Excludes the last layers of block_count that are for multi-token prediction.
void ReadGgufPredictionLayers(const GgufMetadata& metadata, ModelConfig* config);

// Reads which layers have experts, as in qwen2_moe and qwen3_moe: layers in mlp_only_layers have
// none; of the other layers, every decoder_sparse_step-th has.
void ReadSparseLayers(const ConfigJson& json, ModelConfig* config);
// Returns [layer]: whether the layer has experts, according to mlp_layer_types. Without that key,
// all layers after the first `dense` ones have experts.
std::vector<bool> ReadMlpTypes(const ConfigJson& json, int64_t layers, int64_t dense);

}  // namespace midscope
