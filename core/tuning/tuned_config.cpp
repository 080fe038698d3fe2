// SPDX-License-Identifier: MIT
#include "core/tuning/tuned_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/intervention/rope_schemes.h"
#include "core/model/folder_model.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

// Returns the object with the rotary settings, which is made if there is none.
Json& RopeOf(Json& json) {
  if (json.contains("rope_parameters") && json["rope_parameters"].is_object())
    return json["rope_parameters"];
  if (!json.contains("rope_scaling") || !json["rope_scaling"].is_object())
    json["rope_scaling"] = Json::object();
  return json["rope_scaling"];
}

void SetScheme(const ModelConfig& config, const TunedScheme& scheme, Json& json) {
  if (scheme.interpolation == Interpolation::kLinear) {
    Json& rope = RopeOf(json);
    rope["rope_type"] = "linear";
    rope["factor"] = scheme.factor;
  } else {
    const bool is_nested =
        json.contains("rope_parameters") && json["rope_parameters"].contains("rope_theta");
    (is_nested ? json["rope_parameters"] : json)["rope_theta"] =
        NtkBase(config.rope_base, scheme.factor, config.rope_dimensions);
  }
  constexpr const char* kContext = "max_position_embeddings";
  if (json.contains(kContext) && json[kContext].is_number_integer())
    json[kContext] = std::max(json[kContext].get<int64_t>(), scheme.context);
}

// Whether the written config.json is read as the model with the scheme.
bool IsReadAs(const std::filesystem::path& folder, const ModelConfig& config,
              const TunedScheme& scheme) {
  constexpr double kTolerance = 1e-12;
  ModelConfig read;
  try {
    read = ReadFolderConfig(folder);
  } catch (const Error&) {  // of a family that does not allow a scaling
    return false;
  }
  const bool is_linear = scheme.interpolation == Interpolation::kLinear;
  const double base = is_linear ? config.rope_base
                                : NtkBase(config.rope_base, scheme.factor, config.rope_dimensions);
  const auto kind = is_linear ? RopeScalingKind::kLinear : RopeScalingKind::kNone;
  return read.rope_scaling.kind == kind && std::abs(read.rope_base - base) <= kTolerance * base &&
         read.rope_local_base == config.rope_local_base &&
         (!is_linear || read.rope_scaling.factor == scheme.factor);
}

}  // namespace

bool WriteTunedConfig(const std::filesystem::path& from, const ModelConfig& config,
                      kernels::Dtype dtype, const TunedScheme& scheme,
                      const std::filesystem::path& to) {
  const std::filesystem::path target = to / "config.json";
  Json plain = Json::parse(ReadWholeFile((from / "config.json").string()));
  plain[plain.contains("torch_dtype") ? "torch_dtype" : "dtype"] =
      dtype == kernels::Dtype::kFloat32 ? "float32" : "bfloat16";
  const bool is_known =
      scheme.interpolation == Interpolation::kLinear || scheme.interpolation == Interpolation::kNtk;
  const bool has_scaling = config.rope_scaling.kind != RopeScalingKind::kNone;
  if (is_known && !has_scaling && !plain.contains("text_config")) {
    Json with_scheme = plain;
    SetScheme(config, scheme, with_scheme);
    WriteTextAt(target, with_scheme.dump(2) + "\n");
    if (IsReadAs(to, config, scheme)) return true;
  }
  WriteTextAt(target, plain.dump(2) + "\n");
  return false;
}

}  // namespace midscope
