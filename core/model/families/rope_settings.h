// SPDX-License-Identifier: MIT
// Rotary positions out of config.json: `rope_parameters` (transformers 5) or `rope_theta`,
// `rope_scaling` and `partial_rotary_factor` (before), as modeling_rope_utils.py reads them.
#pragma once

#include <optional>
#include <string>

#include "core/formats/config_json.h"
#include "core/model/model_config.h"

namespace midscope {

struct RopeDefaults {
  double base = 10000.0;
  // Rotated part of a head. Nothing: the family's class in transformers rotates whole heads and
  // does not read partial_rotary_factor.
  std::optional<double> partial = {};
  std::string base_key = "rope_theta";  // where there are no rope_parameters
  std::string partial_key = "partial_rotary_factor";
  bool text_of_mrope = false;  // "mrope" is a kind that changes nothing in text
};

// Fills rope_base, rope_dimensions and rope_scaling from the `rope` object (nothing: absent) with
// other keys of `json`. Needs head_dim and trained_context; scaling that lets a model run
// beyond the context that it names makes trained_context longer. A partial_rotary_factor that the
// family does not read becomes a note. Throws Error for a scaling that is not known.
void ReadRope(const ConfigJson& json, const std::optional<ConfigJson>& rope,
              const RopeDefaults& defaults, ModelConfig* config);

// For families whose layers with a window rotate without the scaling of the others (gemma3, olmo3).
// transformers 5 has one object for each type of layer; older files have a rope_scaling that is
// meant for the layers without window. `base`, `local_base`: defaults where the file has none.
void ReadRopesByLayerType(const ConfigJson& json, double base, double local_base,
                          ModelConfig* config);

// The usual factor of cos and sin for YaRN's `factor`, whose logarithm is weighted.
double YarnMagnitude(double factor, double weight);

// The object with the settings: rope_scaling, else rope_parameters, as transformers chooses.
std::optional<ConfigJson> RopeObject(const ConfigJson& json);

}  // namespace midscope
