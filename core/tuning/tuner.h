// SPDX-License-Identifier: MIT
// Tunes a model step by step: losses of a batch of samples, one change of the weights or of an
// adapter, and checkpoints from which a run continues with equal bits.
//
// clang-format off
//   Tuner tuner(*source, settings, context);
//   while (tuner.steps_done() < settings.optimizer.steps) tuner.Step(sample_at, context);
//   tuner.WriteAdapter(folder);
// clang-format on
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/job.h"
#include "core/base/process_group.h"
#include "core/compute/placement.h"
#include "core/intervention/intervention.h"
#include "core/model/model_source.h"
#include "core/tuning/tuning_settings.h"
#include "kernels/types.h"

namespace midscope {

// A sequence of at least two tokens. All members are [token].
struct TuningSample {
  std::vector<int32_t> ids;
  std::vector<double> position_ids;
  // Whether the token's likelihood, given those before it, is part of the loss; empty: all are.
  std::vector<uint8_t> in_loss = {};
  // For distillation (distillation.h), whose loss counts the last tokens that both sequences share:
  // another prompt with the same answer, at positions 0, 1, 2, ...; empty: none.
  std::vector<int32_t> teacher_ids = {};
  int64_t answer_tokens = 0;
  int64_t place = 0;  // 0: the teacher's
};

// Returns the sample with this index, from 0, which depends only on the index.
using TuningSamples = std::function<TuningSample(int64_t sample)>;

struct TunerSettings {
  Intervention setting;  // the position scheme; see TuningPlans
  OptimizerSettings optimizer;
  int64_t batch = 1;                 // number of samples per step
  std::optional<LoraSettings> lora;  // nullopt: all weights are tuned
  // With bfloat16, an adapter, or the weights that the optimizer changes, are float32.
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  bool recompute = false;  // DifferentiableOptions::checkpoints
  // Whether samples have teachers; the model as it was before the first step is the teacher.
  bool distil = false;
  int64_t threads = 0;  // 0: LibTorch's number
  DeviceName device;    // of the weights, of the passes and of the optimizer
  // The processes that share each step's samples, at least one per process; null: this one alone.
  // All must have equal settings, samples and weights.
  ProcessGroup* processes = nullptr;
};

struct TuningStep {
  double loss = 0;  // mean over the samples, in nats per token; distillation: of divergences
  double rate = 0;
  double gradient_norm = 0;  // before clipping
  int64_t tokens = 0;
  double seconds = 0;
};

class Tuner {
 public:
  // `source`, `context.cancel` and `settings.processes` must outlive the tuner. Throws Error in the
  // cases of CheckDevices, TuningPlans, DifferentiableModel and MakeLora, and (usage) if all
  // weights are tuned of a model whose files cannot be written (CheckModelFolder), and Cancelled.
  Tuner(const ModelSource& source, const TunerSettings& settings, const JobContext& context);
  ~Tuner();
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  int64_t threads() const;
  int64_t steps_done() const { return static_cast<int64_t>(history().size()); }
  const std::vector<TuningStep>& history() const;

  // Runs samples steps_done() * batch, ... and changes the weights. With several processes, each
  // runs its samples of the step, and all change their weights by the sum of their gradients, which
  // is that of one process up to the order of additions. Reports progress in samples of the whole
  // run. Throws Error in the cases of TuningPlans and (failure) for a loss or gradients that are
  // not finite, and Cancelled, within about the time of a layer; the tuner is then as after the
  // last step.
  TuningStep Step(const TuningSamples& sample_at, const JobContext& context);

  // Returns the mean of the losses of `count` samples from `first` on with the present weights,
  // shared by the processes.
  double MeanLoss(const TuningSamples& sample_at, int64_t first, int64_t count,
                  const JobContext& context) const;
  // The means that the caller adds are saved in checkpoints.
  std::vector<double>& held_out_losses();

  // Writes the tuned tensors, the optimizer's state and the history to a file, which takes its name
  // only when it is complete. Throws Error (failure) if it cannot be written.
  void Save(const std::filesystem::path& path) const;
  // Continues from a file that a tuner of an equal model with equal settings has saved. Throws
  // Error (failure) if it cannot be read or is not of such a tuner.
  void Load(const std::filesystem::path& path);

  // Writes the adapter (adapter_folder.h), or all weights as a folder (model_folder.h) without its
  // config.json. Throws Error.
  void WriteAdapter(const std::filesystem::path& folder) const;
  void WriteModel(const std::filesystem::path& folder) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace midscope
