// SPDX-License-Identifier: MIT
#include "core/tuning/tuner.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/timing.h"
#include "core/compute/device_facts.h"
#include "core/compute/layer_devices.h"
#include "core/model/model_text.h"
#include "core/tuning/adapter_folder.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/distillation.h"
#include "core/tuning/model_folder.h"
#include "core/tuning/trainable_weights.h"
#include "core/tuning/tuner_state.h"
#include "core/tuning/tuning_optimizer.h"
#include "core/tuning/tuning_plans.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// Opens the model's files without an adapter or random weights.
std::unique_ptr<ModelSource> FilesOf(const ModelSource& source) {
  return OpenModel(ResolveModel(source.path()).string());
}

// Checks that all weights can be written back. Those of a model with an adapter or random weights
// differ from its files', so that the files' own are compared.
void CheckWritable(const ModelSource& source, const DifferentiableModel& model) {
  if (ParseModelText(source.path()).plain()) return CheckModelFolder(source, model.weights());
  const auto files = FilesOf(source);
  CheckModelFolder(*files, LoadTrainableWeights(*files, kernels::Dtype::kFloat32, at::kCPU));
}

DifferentiableModel PlainModel(const ModelSource& source, const TunerSettings& settings,
                               const JobContext& context) {
  // Refused before weights are loaded.
  CheckDevices({{{settings.device}}});
  (void)TuningPlans(settings.setting, {}, source.config(), 2);
  if (settings.threads > 0) at::set_num_threads(static_cast<int>(settings.threads));
  return {source,
          {.dtype = settings.dtype,
           .device = TorchDevice(settings.device),
           .checkpoints = settings.recompute,
           .cancel = context.cancel},
          context};
}

// Returns the model whose weights or adapter are tuned, which takes the weights of `model`.
DifferentiableModel TunedModel(DifferentiableModel model, const ModelSource& source,
                               const TunerSettings& settings) {
  if (settings.lora) {
    LoraAdapter adapter = MakeLora(*settings.lora, model.config());
    CheckAdapterModules(adapter, source);
    model.SetAdapter(std::move(adapter));
  } else {
    CheckWritable(source, model);
  }
  return model;
}

// Returns the tensors that are tuned, by name.
NamedTensors TunedTensors(const DifferentiableModel& model) {
  NamedTensors tuned = model.adapter().tensors;
  for (const auto& [name, weight] : model.weights()) {
    if (weight.requires_grad()) tuned[name] = weight;
  }
  return tuned;
}

// Returns the tensors that the optimizer changes: float32 copies of those that are not float32.
std::vector<at::Tensor> Masters(const NamedTensors& tuned) {
  std::vector<at::Tensor> masters;
  for (const auto& [name, tensor] : tuned) {
    const bool is_float = tensor.scalar_type() == at::kFloat;
    masters.push_back(is_float ? tensor : tensor.detach().to(at::kFloat).set_requires_grad(true));
  }
  return masters;
}

double CheckedLoss(const at::Tensor& loss, int64_t steps_done) {
  const auto value = loss.item<double>();
  if (std::isfinite(value)) return value;
  throw Failure("loss",
                "in step " + std::to_string(steps_done + 1) + " it is " + std::to_string(value),
                "Use a lower rate, or dtype float32");
}

// The samples of a step that a process runs, and their teachers' log probabilities.
struct OwnSamples {
  std::vector<size_t> index;  // of each in the batch
  std::vector<TuningSample> samples;
  std::vector<at::Tensor> targets;
};

}  // namespace

struct Tuner::State {
  State(const ModelSource& of, const TunerSettings& with, const JobContext& context)
      : source(of),
        settings(with),
        processes(with.processes == nullptr ? this_process : *with.processes),
        model(TunedModel(PlainModel(of, with, context), of, with)),
        tuned(TunedTensors(model)),
        masters(Masters(tuned)),
        optimizer(masters, with.optimizer) {
    if (with.distil) teacher = TeacherOf(context);
  }

  // Returns a model that shares the weights, which stay as they are, or has its own if they change.
  std::unique_ptr<const DifferentiableModel> TeacherOf(const JobContext& context) const {
    if (!settings.lora)
      return std::make_unique<DifferentiableModel>(PlainModel(source, settings, context));
    auto plain = std::make_unique<DifferentiableModel>(model);
    plain->SetAdapter({});
    return plain;
  }

  std::vector<AttentionPlan> PlansOf(const std::vector<int32_t>& ids,
                                     const std::vector<double>& position_ids) const {
    MIDSCOPE_CHECK(ids.size() > 1, "a sample has at least two tokens");
    return TuningPlans(settings.setting, position_ids, model.config(), std::ssize(ids));
  }

  // Returns the log probabilities of the last tokens.
  at::Tensor AnswerOf(const DifferentiableModel& of, const std::vector<int32_t>& ids,
                      const std::vector<double>& position_ids, int64_t tokens) const {
    return LastLogProbabilities(of.Logits(ids, PlansOf(ids, position_ids),
                                          {.first_logit_row = std::ssize(ids) - 1 - tokens}),
                                tokens);
  }

  // Returns the teacher's log probabilities of the answer; undefined without a teacher.
  at::Tensor TargetsOf(const TuningSample& sample) const {
    if (teacher == nullptr) return {};
    const c10::NoGradGuard no_gradients;
    return AnswerOf(*teacher, sample.teacher_ids, {}, sample.answer_tokens);
  }

  at::Tensor LossOf(const TuningSample& sample, const at::Tensor& targets) const {
    if (targets.defined()) {
      return Divergence(targets,
                        AnswerOf(model, sample.ids, sample.position_ids, sample.answer_tokens));
    }
    return model.NextTokenLoss(sample.ids, PlansOf(sample.ids, sample.position_ids),
                               sample.in_loss);
  }

  // Returns the batch's samples that this process runs.
  OwnSamples SamplesOf(int64_t step, const TuningSamples& sample_at,
                       const JobContext& context) const {
    OwnSamples own;
    for (int64_t index = processes.rank(); index < settings.batch; index += processes.size()) {
      context.ThrowIfCancelled();
      own.index.push_back(static_cast<size_t>(index));
      own.samples.push_back(sample_at(step * settings.batch + index));
      own.targets.push_back(TargetsOf(own.samples.back()));
    }
    return own;
  }

  // Returns the weights [sample] of the batch's losses, which depend on the samples of all
  // processes.
  std::vector<double> WeightsOf(const OwnSamples& own) const {
    const auto batch = static_cast<size_t>(settings.batch);
    if (teacher == nullptr) return std::vector<double>(batch, 1);
    std::vector<double> divergences(batch);
    std::vector<double> places(batch);
    processes.Agree([&] {
      const c10::NoGradGuard no_gradients;
      for (size_t i = 0; i < own.samples.size(); ++i) {
        divergences[own.index[i]] = LossOf(own.samples[i], own.targets[i]).item<double>();
        places[own.index[i]] = static_cast<double>(own.samples[i].place);
      }
    });
    processes.Sum(divergences);
    processes.Sum(places);
    return DistillationWeights(divergences, std::vector<int64_t>(places.begin(), places.end()));
  }

  // Adds the gradients of the process's samples. Returns their losses, [sample of the batch].
  std::vector<double> AddGradients(const OwnSamples& own, const std::vector<double>& weights,
                                   const JobContext& context) {
    const auto batch = static_cast<double>(settings.batch);
    const int64_t steps_done = std::ssize(history);
    std::vector<double> losses(weights.size());
    for (size_t i = 0; i < own.samples.size(); ++i) {
      const size_t index = own.index[i];
      context.ThrowIfCancelled();
      context.Report({"tune", steps_done * settings.batch + static_cast<int64_t>(index),
                      settings.batch * settings.optimizer.steps, "samples"});
      const at::Tensor loss = LossOf(own.samples[i], own.targets[i]);
      losses[index] = CheckedLoss(loss, steps_done);
      (loss * (weights[index] / batch)).backward();
      MoveGradients();
    }
    return losses;
  }

  // Moves gradients of the model's tensors to those that the optimizer changes.
  void MoveGradients() {
    size_t next = 0;
    for (const auto& [name, tensor] : tuned) {
      const at::Tensor& master = masters[next++];
      if (master.is_same(tensor) || !tensor.grad().defined()) continue;
      const at::Tensor gradient = tensor.grad().to(at::kFloat);
      master.mutable_grad() = master.grad().defined() ? master.grad() + gradient : gradient;
      tensor.mutable_grad().reset();
    }
  }

  void ForgetGradients() {
    for (const auto& [name, tensor] : tuned) tensor.mutable_grad().reset();
    for (const at::Tensor& master : masters) master.mutable_grad().reset();
  }

  // Copies the changed values to the model's tensors.
  void CopyMasters() {
    const c10::NoGradGuard no_gradients;
    size_t next = 0;
    for (const auto& [name, tensor] : tuned) {
      const at::Tensor& master = masters[next++];
      if (!master.is_same(tensor)) tensor.copy_(master);
    }
  }

  NamedTensors NamedMasters() const {
    NamedTensors named;
    size_t next = 0;
    for (const auto& [name, tensor] : tuned) named[name] = masters[next++];
    return named;
  }

  const ModelSource& source;
  TunerSettings settings;
  ProcessGroup this_process;
  ProcessGroup& processes;
  DifferentiableModel model;
  NamedTensors tuned;
  std::vector<at::Tensor> masters;  // in the order of `tuned`
  TuningOptimizer optimizer;
  std::vector<TuningStep> history;
  std::vector<double> held_out_losses;
  std::unique_ptr<const DifferentiableModel> teacher;  // null: no distillation
};

Tuner::Tuner(const ModelSource& source, const TunerSettings& settings, const JobContext& context)
    : state_(std::make_unique<State>(source, settings, context)) {}

Tuner::~Tuner() = default;

int64_t Tuner::threads() const { return at::get_num_threads(); }

const std::vector<TuningStep>& Tuner::history() const { return state_->history; }

TuningStep Tuner::Step(const TuningSamples& sample_at, const JobContext& context) {
  const auto start = std::chrono::steady_clock::now();
  ProcessGroup& processes = state_->processes;
  TuningStep step;
  step.rate = state_->optimizer.RateOf(steps_done());
  try {
    OwnSamples own;
    std::vector<double> losses;
    double tokens = 0;
    processes.Agree([&] { own = state_->SamplesOf(steps_done(), sample_at, context); });
    const std::vector<double> weights = state_->WeightsOf(own);
    processes.Agree([&] { losses = state_->AddGradients(own, weights, context); });
    for (const TuningSample& sample : own.samples)
      tokens += static_cast<double>(std::ssize(sample.ids));
    losses.push_back(tokens);
    processes.Sum(losses);
    step.tokens = static_cast<int64_t>(losses.back());
    losses.pop_back();
    for (const double loss : losses) step.loss += loss / static_cast<double>(losses.size());
    SumGradients(state_->masters, processes);
    processes.Agree([&] { step.gradient_norm = state_->optimizer.Step(); });
  } catch (...) {
    state_->ForgetGradients();
    throw;
  }
  state_->CopyMasters();
  step.seconds = SecondsSince(start);
  state_->history.push_back(step);
  return step;
}

double Tuner::MeanLoss(const TuningSamples& sample_at, int64_t first, int64_t count,
                       const JobContext& context) const {
  const c10::NoGradGuard no_gradients;
  ProcessGroup& processes = state_->processes;
  std::vector<double> losses(static_cast<size_t>(count));
  processes.Agree([&] {
    for (int64_t i = processes.rank(); i < count; i += processes.size()) {
      context.Report({"held-out loss", i, count, "samples"});
      const TuningSample sample = sample_at(first + i);
      losses[static_cast<size_t>(i)] =
          state_->LossOf(sample, state_->TargetsOf(sample)).item<double>();
    }
  });
  processes.Sum(losses);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(count);
}

std::vector<double>& Tuner::held_out_losses() { return state_->held_out_losses; }

void Tuner::Save(const std::filesystem::path& path) const {
  SaveTunerState(path, {state_->NamedMasters(), state_->optimizer.Moments(), state_->history,
                        state_->held_out_losses});
}

void Tuner::Load(const std::filesystem::path& path) {
  const NamedTensors masters = state_->NamedMasters();
  TunerStateFile file = LoadTunerState(path, masters);
  if (std::ssize(file.history) > state_->settings.optimizer.steps)
    throw Failure(path.string(), "it has more steps than the run");
  const c10::NoGradGuard no_gradients;
  for (const auto& [name, master] : masters) master.copy_(file.values.at(name));
  state_->CopyMasters();
  state_->optimizer.Continue(std::ssize(file.history), file.moments);
  state_->history = std::move(file.history);
  state_->held_out_losses = std::move(file.held_out_losses);
}

void Tuner::WriteAdapter(const std::filesystem::path& folder) const {
  midscope::WriteAdapter(state_->model.adapter(), state_->source, folder);
}

void Tuner::WriteModel(const std::filesystem::path& folder) const {
  WriteModelFolder(*FilesOf(state_->source), state_->model.weights(), folder);
}

}  // namespace midscope
