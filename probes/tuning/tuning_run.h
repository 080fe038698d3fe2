// SPDX-License-Identifier: MIT
// A tuning run with its files: checkpoints, losses, and the tuned model or adapter.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/record.h"
#include "core/tuning/tuned_config.h"
#include "core/tuning/tuner.h"
#include "data/published/tuning_recipe.h"

namespace midscope {

struct TuningRun {
  std::string folder;
  std::string plan_json;
  TunerSettings settings;
  int64_t checkpoint_every = 1;  // steps
  int64_t held_out = 0;          // number of samples after the training samples
  TuningRecipe recipe;
  TunedScheme scheme;
};

struct TuningOutcome {
  Record record;  // what TuningRecord returns
  bool config_has_scheme = false;
};

// Throws Error: (usage) if the folder is not empty and `resume` is false, or contains a run with
// another plan; (failure) if the folder cannot be read. `plan_json`: the requested plan; "": not
// known yet, plans are not compared.
void CheckTuningFolder(const std::string& folder, bool resume, const std::string& plan_json);

// Returns the run so far: loss, rate, gradient_norm, tokens and seconds [step], with attributes
// held_out_loss_before, held_out_loss_after (if computed) and the recipe's fields.
Record TuningRecord(Tuner& tuner, const TuningRun& run);

// Runs the training steps that the folder's checkpoint has not finished, and writes files into the
// folder: a checkpoint and the losses every `checkpoint_every` steps, when cancelled, and at the
// end the tuned model; the checkpoint is then removed. Logs losses. With several processes
// (TunerSettings::processes), all call this function and read the checkpoint; only rank 0 writes.
// Throws Error, which leaves the last checkpoint intact, and Cancelled.
TuningOutcome RunTuning(Tuner& tuner, const TuningSamples& sample_at, const TuningRun& run,
                        const ModelSource& source, const Provenance& provenance,
                        const JobContext& context);

}  // namespace midscope
