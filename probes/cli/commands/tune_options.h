// SPDX-License-Identifier: MIT
// The options of `midscope tune` as C++ values (probes/tuning/tuning_options.h).
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/tuning/tuned_config.h"
#include "core/tuning/tuner.h"
#include "data/published/tuning_recipe.h"
#include "probes/tuning/tuning_samples.h"

namespace midscope::cli {

// The values of the options of `midscope tune`. Reading them throws Error (usage).
struct TuneRequest {
  SampledRecipe recipe;
  TunerSettings settings;
  TunedScheme scheme;
  std::string setting;          // the position scheme as text
  TuningRecipe published_form;  // recipe in the publication's form, for midscope_recipe.json
};
TuneRequest ReadTuneOptions(const OptionSet& options);

// Returns the plan of a tuning run as JSON, compared by --resume: the options that change its
// result, with the hashes of the model and the data.
std::string TunePlanJson(const OptionSet& options, const std::string& model_hash);

}  // namespace midscope::cli
