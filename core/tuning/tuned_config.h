// SPDX-License-Identifier: MIT
// Writes the config.json of a tuned model.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// The position schemes that tuning has names for.
enum class Interpolation {
  kNone,
  kLinear,  // pi(factor)
  kNtk,     // ntk(factor)
  kYarn,    // yarn(factor, form=cream)
};

struct TunedScheme {
  Interpolation interpolation = Interpolation::kNone;
  double factor = 1;
  int64_t context = 0;  // tokens that the model was tuned for
};

// Writes `from`'s config.json to `to`, with the dtype of the weights and, where transformers has
// the scheme, with it: linear as rope_type linear, ntk as a larger rope_theta; then
// max_position_embeddings is at least the context. Returns whether it contains the scheme. It does
// not for yarn, whose form in transformers is another one, and for a model that has a scaling
// already: its reader needs the setting. `config`: the model's description. Throws Error (failure)
// if the file cannot be written.
bool WriteTunedConfig(const std::filesystem::path& from, const ModelConfig& config,
                      kernels::Dtype dtype, const TunedScheme& scheme,
                      const std::filesystem::path& to);

}  // namespace midscope
