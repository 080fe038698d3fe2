// SPDX-License-Identifier: MIT
// InternLM 1: llama with biases in the four projections of attention, and different keys for the
// rotary embedding. transformers has no class for it; keys and defaults follow the code published
// with the model files (configuration_internlm.py, modeling_internlm.py).
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::internlm {
namespace {

// Reads the object `rotary`. By default, rope scaling is dynamic: it begins beyond the context.
void ReadRotary(const std::optional<ConfigJson>& rotary, ModelConfig* config) {
  const std::string type = rotary ? rotary->Text("type", "dynamic") : "dynamic";
  if (rotary) config->rope_base = rotary->Positive("base", 10000.0);
  if (type == "origin") return;
  if (type != "dynamic") rotary->Fail(rotary->Name("type") + " must be origin or dynamic");
  config->rope_scaling.kind = RopeScalingKind::kDynamic;
  const double factor = rotary ? rotary->Positive("scaling_factor", 1.0) : 1.0;
  const auto context = static_cast<double>(config->trained_context);
  config->rope_scaling.factor = factor;
  config->rope_scaling.original_context = context;
  config->trained_context =
      static_cast<int64_t>(std::clamp(context * factor, 1.0, static_cast<double>(kMaxTokens)));
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  ReadRotary(json.Object("rotary"), config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "bias", true);
  return LlamaLikeTensors({.attention = bias, .attention_out = bias});
}

}  // namespace

const Family& InternLmFamily() {
  static const Family family = {"internlm", "internlm", ReadFolder, FolderTensors,
                                "",         nullptr,    nullptr};
  return family;
}

}  // namespace midscope::internlm
