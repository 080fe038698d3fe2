// SPDX-License-Identifier: MIT
#include "probes/tuning/tuning_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "data/store/run_store.h"
#include "data/sweep/plan_difference.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLinesOfLosses = 20;

Array ArrayOf(const Tuner& tuner, const std::string& name, const std::string& unit,
              const std::string& description, double TuningStep::*member) {
  std::vector<double> values;
  for (const TuningStep& step : tuner.history()) values.push_back(step.*member);
  return {name, {"step"}, std::move(values), unit, description};
}

std::string RecipeFileText(const TuningRun& run) {
  nlohmann::ordered_json json(run.recipe);
  json["context"] = run.scheme.context;
  return json.dump(2) + "\n";
}

// Runs the work on rank 0; if it throws there, all ranks throw.
void RunByRankZero(ProcessGroup& processes, const std::function<void()>& work) {
  processes.Agree([&] {
    if (processes.rank() == 0) work();
  });
}

// Reads the checkpoint on every rank.
void Continue(Tuner& tuner, const fs::path& state, ProcessGroup& processes,
              const JobContext& context) {
  processes.Agree([&] {
    if (PathExists(state)) tuner.Load(state);
  });
  std::array<double, 1> steps = {static_cast<double>(tuner.steps_done())};
  processes.Sum(steps);
  processes.Agree([&] {
    if (steps[0] == static_cast<double>(tuner.steps_done() * processes.size())) return;
    throw Failure(state.string(), "not all ranks read the same checkpoint",
                  "Give --out in a folder that all ranks see, by its whole path");
  });
  if (tuner.steps_done() > 0)
    context.Log(fmt::format("continues after step {}", tuner.steps_done()));
}

// Runs the training steps and writes checkpoints.
class Loop {
 public:
  Loop(Tuner& tuner, const TuningSamples& sample_at, const TuningRun& run,
       const Provenance& provenance, ProcessGroup& processes, const JobContext& context)
      : tuner_(tuner),
        sample_at_(sample_at),
        run_(run),
        provenance_(provenance),
        processes_(processes),
        context_(context),
        saved_(tuner.steps_done()) {}

  void Run() {
    if (tuner_.held_out_losses().empty()) MeasureHeldOut();
    const int64_t steps = run_.settings.optimizer.steps;
    try {
      while (tuner_.steps_done() < steps) {
        const TuningStep step = tuner_.Step(sample_at_, context_);
        const int64_t done = tuner_.steps_done();
        if (done == 1 || done == steps || done % std::max<int64_t>(1, steps / kLinesOfLosses) == 0)
          LogStep(step);
        if (done % run_.checkpoint_every == 0 && done < steps) ByRankZero([this] { Save(); });
      }
    } catch (const Cancelled&) {
      if (processes_.rank() == 0 && tuner_.steps_done() > saved_) Save();
      throw;
    }
    const int64_t samples = steps * run_.settings.batch;
    context_.Report({"tune", samples, samples, "samples"});
    ByRankZero([this] { Save(); });
    if (run_.held_out == 0 || tuner_.held_out_losses().size() >= 2) return;
    MeasureHeldOut();
    ByRankZero([this] { WriteLosses(); });
  }

 private:
  void ByRankZero(const std::function<void()>& work) { RunByRankZero(processes_, work); }

  void WriteLosses() const {
    WriteOptions write;
    write.overwrite = true;
    WriteRecords((fs::path(run_.folder) / kTuningFile).string(), {TuningRecord(tuner_, run_)},
                 provenance_, write);
  }

  void MeasureHeldOut() {
    if (run_.held_out == 0) return;
    const int64_t first = run_.settings.optimizer.steps * run_.settings.batch;
    tuner_.held_out_losses().push_back(tuner_.MeanLoss(sample_at_, first, run_.held_out, context_));
    context_.Log(fmt::format("held-out loss {:.4f}", tuner_.held_out_losses().back()));
  }

  void LogStep(const TuningStep& step) const {
    context_.Log(fmt::format("step {}/{}: loss {:.4f}, rate {:.3g}, {:.0f} tokens/s",
                             tuner_.steps_done(), run_.settings.optimizer.steps, step.loss,
                             step.rate, static_cast<double>(step.tokens) / step.seconds));
  }

  void Save() {
    tuner_.Save(fs::path(run_.folder) / kTuningState);
    saved_ = tuner_.steps_done();
    WriteLosses();
  }

  Tuner& tuner_;
  const TuningSamples& sample_at_;
  const TuningRun& run_;
  const Provenance& provenance_;
  ProcessGroup& processes_;
  const JobContext& context_;
  int64_t saved_;
};

bool IsEmptyFolder(const std::string& folder) {
  return !PathExists(folder) || (IsFolder(folder) && fs::is_empty(folder));
}

}  // namespace

void CheckTuningFolder(const std::string& folder, bool resume, const std::string& plan_json) {
  if (IsEmptyFolder(folder)) return;
  if (!resume) {
    throw UsageError(folder, "it exists and is not empty",
                     "Give --resume to continue the run in it, or another --out");
  }
  const fs::path plan = fs::path(folder) / kTuningPlan;
  if (!PathExists(plan)) {
    throw UsageError(folder, "it is not the folder of a tuning run", "Give another --out");
  }
  if (plan_json.empty()) return;
  const std::string difference = FirstPlanDifference(ReadWholeFile(plan.string()), plan_json);
  if (!difference.empty()) {
    throw UsageError(folder, "its run has another plan: " + difference,
                     "Resume with the options of that run, or give another --out");
  }
}

Record TuningRecord(Tuner& tuner, const TuningRun& run) {
  std::vector<int64_t> steps(tuner.history().size());
  std::vector<int64_t> tokens;
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<int64_t>(i) + 1;
  for (const TuningStep& step : tuner.history()) tokens.push_back(step.tokens);
  Record record;
  record.name = kTuningRecord;
  record.axes = {ValuedAxis("step", steps)};
  record.arrays = {
      ArrayOf(tuner, "loss", "nats", "mean over the step's tokens", &TuningStep::loss),
      ArrayOf(tuner, "rate", "", "learning rate", &TuningStep::rate),
      ArrayOf(tuner, "gradient_norm", "", "before clipping", &TuningStep::gradient_norm),
      {"tokens", {"step"}, std::move(tokens), "tokens", "in the step's samples"},
      ArrayOf(tuner, "seconds", "s", "wall time of the step", &TuningStep::seconds)};
  record.signal = "loss";
  for (const auto& [key, value] : run.recipe) record.attributes[key] = value;
  record.attributes["context"] = run.scheme.context;
  const std::vector<double>& held_out = tuner.held_out_losses();
  if (!held_out.empty()) record.attributes["held_out_loss_before"] = held_out.front();
  if (held_out.size() > 1) record.attributes["held_out_loss_after"] = held_out.back();
  return record;
}

TuningOutcome RunTuning(Tuner& tuner, const TuningSamples& sample_at, const TuningRun& run,
                        const ModelSource& source, const Provenance& provenance,
                        const JobContext& context) {
  const fs::path folder = run.folder;
  ProcessGroup alone;
  ProcessGroup& processes = run.settings.processes == nullptr ? alone : *run.settings.processes;
  RunByRankZero(processes, [&] { WriteTextAt(folder / kTuningPlan, run.plan_json + "\n"); });
  Continue(tuner, folder / kTuningState, processes, context);
  Loop(tuner, sample_at, run, provenance, processes, context).Run();
  TuningOutcome outcome;
  RunByRankZero(processes, [&] {
    if (run.settings.lora) {
      tuner.WriteAdapter(folder);
    } else {
      tuner.WriteModel(folder);
      outcome.config_has_scheme = WriteTunedConfig(ResolveModel(source.path()), source.config(),
                                                   run.settings.dtype, run.scheme, folder);
    }
    WriteTextAt(folder / kRecipeFile, RecipeFileText(run));
    std::error_code ignored;
    fs::remove(folder / kTuningState, ignored);
  });
  outcome.record = TuningRecord(tuner, run);
  return outcome;
}

}  // namespace midscope
