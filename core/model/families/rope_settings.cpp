// SPDX-License-Identifier: MIT
#include "core/model/families/rope_settings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/utf8.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

// Returns the context length that the scaling extends. As in transformers, the key at the top level
// (phi3) has priority over the key in the rope object.
double OriginalContext(const ConfigJson& json, const ConfigJson& rope, const ModelConfig& config) {
  const double within = rope.Positive("original_max_position_embeddings",
                                      static_cast<double>(config.trained_context));
  return json.Positive("original_max_position_embeddings", within);
}

double YarnAttentionFactor(const ConfigJson& rope, double factor) {
  if (rope.Has("attention_factor")) return rope.Positive("attention_factor");
  const double own = rope.PositiveOrZero("mscale");
  const double all_dimensions = rope.PositiveOrZero("mscale_all_dim");
  if (own != 0.0 && all_dimensions != 0.0)
    return YarnMagnitude(factor, own) / YarnMagnitude(factor, all_dimensions);
  return YarnMagnitude(factor, 1.0);
}

void ReadYarn(const ConfigJson& rope, RopeScaling* scaling, double context) {
  scaling->kind = RopeScalingKind::kYarn;
  scaling->factor = rope.Positive("factor", context / scaling->original_context);
  // As in transformers, a value of 0 means the default.
  const auto beta = [&](const char* key, double otherwise) {
    const double given = rope.PositiveOrZero(key);
    return given == 0.0 ? otherwise : given;
  };
  scaling->beta_fast = beta("beta_fast", 32.0);
  scaling->beta_slow = beta("beta_slow", 1.0);
  scaling->attention_factor = YarnAttentionFactor(rope, scaling->factor);
  scaling->truncate = rope.Flag("truncate", true);
}

void ReadLongRope(const ConfigJson& rope, RopeScaling* scaling, double context) {
  scaling->kind = RopeScalingKind::kLongRope;
  scaling->short_factors = rope.Positives("short_factor");
  scaling->long_factors = rope.Positives("long_factor");
  scaling->factor = rope.Positive("factor", context / scaling->original_context);
  const double by_formula =
      scaling->factor <= 1.0
          ? 1.0
          : std::sqrt(1.0 + std::log(scaling->factor) / std::log(scaling->original_context));
  scaling->attention_factor = rope.Positive("attention_factor", by_formula);
}

void ReadScaling(const ConfigJson& json, const ConfigJson& rope, const std::string& kind,
                 ModelConfig* config) {
  RopeScaling* scaling = &config->rope_scaling;
  const auto context = static_cast<double>(config->trained_context);
  if (kind == "linear" || kind == "dynamic") {
    scaling->kind = kind == "linear" ? RopeScalingKind::kLinear : RopeScalingKind::kDynamic;
    scaling->factor = rope.Positive("factor");
    scaling->original_context = context;
    return;
  }
  scaling->original_context = OriginalContext(json, rope, *config);
  if (kind == "llama3") {
    scaling->kind = RopeScalingKind::kLlama3;
    scaling->factor = rope.Positive("factor");
    scaling->low_frequency_factor = rope.Positive("low_freq_factor");
    scaling->high_frequency_factor = rope.Positive("high_freq_factor");
    if (scaling->low_frequency_factor >= scaling->high_frequency_factor) {
      rope.Fail(rope.Name("low_freq_factor") + " must be less than high_freq_factor");
    }
  } else if (kind == "yarn" && config->architecture != "phi3") {
    ReadYarn(rope, scaling, context);
  } else if (kind == "longrope" || kind == "su" || kind == "yarn") {
    ReadLongRope(rope, scaling, context);  // early phi3 files have "su" or "yarn"
  } else {
    rope.Fail("its rope scaling " + Quote(kind) + " is not supported yet",
              "Supported: default, linear, dynamic, llama3, yarn, longrope");
  }
}

// Sets trained_context to the length after scaling. Dynamic scaling multiplies the stated context;
// for yarn, the stated context may be the length before or after scaling. For linear scaling it is
// unknown which of these is stated, so the number is unchanged.
void StretchContext(ModelConfig* config) {
  const RopeScaling& scaling = config->rope_scaling;
  auto context = static_cast<double>(config->trained_context);
  if (scaling.kind == RopeScalingKind::kDynamic) {
    context *= scaling.factor;
  } else if (scaling.kind == RopeScalingKind::kYarn) {
    context = std::max(context, scaling.original_context * scaling.factor);
  }
  config->trained_context =
      static_cast<int64_t>(std::clamp(context, 1.0, static_cast<double>(kMaxTokens)));
}

// Handles a partial_rotary_factor that a family does not read because it rotates whole heads: adds
// a note. Throws Error if there is also a rope scaling, with which transformers fails.
void NoteUnreadPartial(const ConfigJson& json, double partial, bool scaled, ModelConfig* config) {
  const std::string what = fmt::format("partial_rotary_factor is {}", partial);
  if (scaled) {
    json.Fail(what + " beside a rope scaling, which a " + config->architecture +
                  " model does not support",
              "Remove the key from config.json if the model rotates whole heads");
  }
  config->notes.push_back(what + " in config.json. The " + config->architecture +
                          " model of transformers does not read it and rotates whole heads, and so "
                          "does this run");
}

}  // namespace

double YarnMagnitude(double factor, double weight) {
  return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

std::optional<ConfigJson> RopeObject(const ConfigJson& json) {
  if (auto scaling = json.Object("rope_scaling")) return scaling;
  return json.Object("rope_parameters");
}

void ReadRope(const ConfigJson& json, const std::optional<ConfigJson>& rope,
              const RopeDefaults& defaults, ModelConfig* config) {
  const auto setting = [&](const char* key, const std::string& outer_key, double otherwise) {
    if (rope && rope->Has(key)) return rope->Positive(key);
    return json.Positive(outer_key, otherwise);
  };
  config->rope_base = setting("rope_theta", defaults.base_key, defaults.base);
  const double partial =
      setting("partial_rotary_factor", defaults.partial_key, defaults.partial.value_or(1.0));
  const double rotated = defaults.partial ? partial : 1.0;
  if (rotated > 1.0) json.Fail("partial_rotary_factor is over 1");
  config->rope_dimensions = static_cast<int64_t>(static_cast<double>(config->head_dim) * rotated);
  const std::string kind =
      rope ? rope->Text("rope_type", rope->Text("type", "default")) : "default";
  // mrope has separate positions for time, height and width, which are equal for text.
  const bool scaled = kind != "default" && !(kind == "mrope" && defaults.text_of_mrope);
  if (partial != rotated) NoteUnreadPartial(json, partial, scaled, config);
  if (!scaled) return;
  ReadScaling(json, *rope, kind, config);
  StretchContext(config);
}

void ReadRopesByLayerType(const ConfigJson& json, double base, double local_base,
                          ModelConfig* config) {
  const auto ropes = json.Object("rope_parameters");
  const auto global = ropes ? ropes->Object("full_attention") : std::nullopt;
  const auto local = ropes ? ropes->Object("sliding_attention") : std::nullopt;
  if (ropes && !global && !local) {
    json.Fail("rope_parameters holds neither full_attention nor sliding_attention");
  }
  const auto scaling = json.Object("rope_scaling");
  ReadRope(json, scaling ? scaling : global, {.base = base}, config);
  config->rope_local_base = local_base;
  if (!local) return;
  config->rope_local_base = local->Positive("rope_theta", local_base);
  const std::string kind = local->Text("rope_type", "default");
  if (kind == "default") return;
  local->Fail("its rope scaling " + Quote(kind) + " of layers with a window is not supported yet",
              "Supported: default");
}

}  // namespace midscope
