// SPDX-License-Identifier: MIT
// The file from which a tuning run continues: safetensors with the tuned tensors, the optimizer's
// moments and the history. Internal to core.
#pragma once

#include <filesystem>
#include <vector>

#include "core/tuning/trainable_weights.h"
#include "core/tuning/tuner.h"
#include "core/tuning/tuning_optimizer.h"

namespace midscope {

struct TunerStateFile {
  NamedTensors values;                    // float32
  std::vector<ParameterMoments> moments;  // in the order of `values`
  std::vector<TuningStep> history;
  std::vector<double> held_out_losses;
};

// The file takes its name only when it is complete. Throws Error (failure) if it cannot be written.
void SaveTunerState(const std::filesystem::path& path, const TunerStateFile& state);

// `expected`: tensors with the names and shapes that the file must have. Throws Error (failure) if
// it cannot be read or has others.
TunerStateFile LoadTunerState(const std::filesystem::path& path, const NamedTensors& expected);

}  // namespace midscope
