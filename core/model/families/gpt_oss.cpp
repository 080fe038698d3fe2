// SPDX-License-Identifier: MIT
// gpt-oss: learned sinks in the softmax of every head, a window in every other layer, experts with
// biases and a clamped gate. Folders store the experts in MXFP4 (as published) or as floats.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::gpt_oss {
namespace {

// Sets the rope scaling of the published models, for a config.json without rope settings.
void SetPublishedScaling(RopeScaling* scaling) {
  scaling->kind = RopeScalingKind::kYarn;
  scaling->factor = 32.0;
  scaling->original_context = 4096;
  scaling->truncate = false;
  scaling->attention_factor = YarnMagnitude(scaling->factor, 1.0);
}

void SetExperts(const ExpertSettings& experts, ModelConfig* config) {
  config->experts = experts;
  config->experts.normalised = true;  // softmax over the chosen experts' logits only
  config->experts.layers.assign(static_cast<size_t>(config->layers), true);
  config->attention_sinks = true;
  config->activation = Activation::kClampedSwiglu;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5, .rope_base = 150000.0, .head_dim = 64, .key_value_heads = 8},
                config);
  if (!RopeObject(json)) SetPublishedScaling(&config->rope_scaling);
  const int64_t window = ReadWindow(json, 128);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; }, 2,
      config);
  SetExperts({.count = CountOfTwo(json, "num_local_experts", "num_experts", kMaxExperts, 128),
              .per_row = json.Count("num_experts_per_tok", kMaxExperts, 4),
              .width = config->feed_forward},
             config);
  config->clamped_swiglu = {.gain = json.Positive("swiglu_alpha", 1.702),
                            .limit = json.Positive("swiglu_limit", 7.0)};
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "attention_bias", true);
  std::vector<TensorPlace> places = LlamaLikeTensors({.attention = bias, .attention_out = bias});
  constexpr auto kBare = TensorEnding::kBare;
  places.push_back(
      {"N.sinks", "model.layers.N.self_attn.sinks", RowPart::kAll, Bias::kNever, kBare});
  places.push_back({"N.router", "model.layers.N.mlp.router", RowPart::kAll, Bias::kMust});
  constexpr std::string_view kGateUpBias = "model.layers.N.mlp.experts.gate_up_proj_bias";
  constexpr std::string_view kDownBias = "model.layers.N.mlp.experts.down_proj_bias";
  // In MXFP4, each row is an output; float matrices are [inputs, outputs].
  const auto add = [&](std::string_view gate_up, std::string_view down, bool transposed) {
    places.push_back({"N.experts.E.gate", gate_up, RowPart::kExpertEven, Bias::kMust, kBare,
                      transposed, kGateUpBias});
    places.push_back({"N.experts.E.up", gate_up, RowPart::kExpertOdd, Bias::kMust, kBare,
                      transposed, kGateUpBias});
    places.push_back(
        {"N.experts.E.down", down, RowPart::kExpert, Bias::kMust, kBare, transposed, kDownBias});
  };
  add("model.layers.N.mlp.experts.gate_up_proj.mxfp4", "model.layers.N.mlp.experts.down_proj.mxfp4",
      false);
  add("model.layers.N.mlp.experts.gate_up_proj", "model.layers.N.mlp.experts.down_proj", true);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  ReadGgufWindows(metadata, 2, config);
  // The file does not contain `truncate`, which is false in all published models.
  config->rope_scaling.truncate = false;
  SetExperts(ReadGgufExperts(metadata, config->layers), config);
  RequireGgufExperts(metadata);
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places =
      GgufTensors({.attention = Bias::kMay, .attention_out = Bias::kMay});
  ReplacePlace({"N.mlp_norm", "blk.N.post_attention_norm"}, places);
  places.push_back({"N.sinks", "blk.N.attn_sinks"});
  AddGgufExpertPlaces(places, Bias::kMust);
  return places;
}

}  // namespace

const Family& GptOssFamily() {
  static const Family family = {"gpt_oss", "gpt_oss",  ReadFolder, FolderTensors, "gpt-oss",
                                ReadGguf,  GgufPlaces, {},         true};
  return family;
}

}  // namespace midscope::gpt_oss
