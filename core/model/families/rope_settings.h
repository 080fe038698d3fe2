// SPDX-License-Identifier: MIT
// Reads rotary positions from config.json: `rope_parameters` (transformers 5) or `rope_theta`,
// `rope_scaling` and `partial_rotary_factor` (earlier versions), like modeling_rope_utils.py.
#pragma once

#include <optional>
#include <string>

#include "core/formats/config_json.h"
#include "core/model/model_config.h"

namespace midscope {

struct RopeDefaults {
  double base = 10000.0;
  // Default rotated fraction of a head. nullopt: the family's class in transformers rotates whole
  // heads and does not read partial_rotary_factor.
  std::optional<double> partial = {};
  std::string base_key = "rope_theta";  // used if there are no rope_parameters
  std::string partial_key = "partial_rotary_factor";
  bool text_of_mrope = false;  // whether "mrope" is accepted as a kind that has no effect on text
};

// Sets rope_base, rope_dimensions and rope_scaling from the `rope` object (nullopt: absent) and
// other keys of `json`. head_dim and trained_context must be set; scaling that extends a model
// beyond its stated context increases trained_context. If the family does not read
// partial_rotary_factor, the key only adds a note. Throws Error for an unknown scaling.
void ReadRope(const ConfigJson& json, const std::optional<ConfigJson>& rope,
              const RopeDefaults& defaults, ModelConfig* config);

// Reads rope settings of families whose sliding-window layers rotate without the scaling of global
// layers (gemma3, olmo3). transformers 5 stores one object per type of layer; older files have one
// rope_scaling for global layers. `base`, `local_base`: defaults of global and local layers.
void ReadRopesByLayerType(const ConfigJson& json, double base, double local_base,
                          ModelConfig* config);

// Returns YaRN's factor of cos and sin: 0.1 weight ln(factor) + 1; 1 if `factor` is at most 1.
double YarnMagnitude(double factor, double weight);

// Returns the rope settings: the object rope_scaling, or else rope_parameters, as in transformers.
std::optional<ConfigJson> RopeObject(const ConfigJson& json);

}  // namespace midscope
