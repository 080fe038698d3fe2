// SPDX-License-Identifier: MIT
#include "core/tuning/tuner.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/seconds_since.h"
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
  (void)TuningPlans(settings.setting, {}, source.config(), 2);  // refuses before weights are loaded
  if (settings.threads > 0) at::set_num_threads(static_cast<int>(settings.threads));
  return {source,
          {.dtype = settings.dtype, .checkpoints = settings.recompute, .cancel = context.cancel},
          context};
}

// Returns the model whose weights or adapter are tuned, which takes the weights of `model`.
DifferentiableModel TunedModel(DifferentiableModel model, const ModelSource& source,
                               const TunerSettings& settings) {
  if (settings.lora) {
    model.SetAdapter(MakeLora(*settings.lora, model.config()));
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

}  // namespace

struct Tuner::State {
  State(const ModelSource& of, const TunerSettings& with, const JobContext& context)
      : source(of),
        settings(with),
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

  at::Tensor LogitsOf(const DifferentiableModel& of, const std::vector<int32_t>& ids,
                      const std::vector<double>& position_ids) const {
    MIDSCOPE_CHECK(ids.size() > 1, "a sample has at least two tokens");
    return of.Logits(ids,
                     TuningPlans(settings.setting, position_ids, model.config(), std::ssize(ids)));
  }

  // Returns the teacher's log probabilities of the answer; undefined without a teacher.
  at::Tensor TargetsOf(const TuningSample& sample) const {
    if (teacher == nullptr) return {};
    const c10::NoGradGuard no_gradients;
    return LastLogProbabilities(LogitsOf(*teacher, sample.teacher_ids, {}), sample.answer_tokens);
  }

  at::Tensor LossOf(const TuningSample& sample, const at::Tensor& targets) const {
    const at::Tensor logits = LogitsOf(model, sample.ids, sample.position_ids);
    if (!targets.defined()) return NextTokenLoss(logits, sample.ids, sample.in_loss);
    return Divergence(targets, LastLogProbabilities(logits, sample.answer_tokens));
  }

  // Returns the weights [sample] of a batch's losses.
  std::vector<double> WeightsOf(const std::vector<TuningSample>& samples,
                                const std::vector<at::Tensor>& targets) const {
    if (teacher == nullptr) return std::vector<double>(samples.size(), 1);
    const c10::NoGradGuard no_gradients;
    std::vector<double> divergences;
    std::vector<int64_t> places;
    for (size_t i = 0; i < samples.size(); ++i) {
      divergences.push_back(LossOf(samples[i], targets[i]).item<double>());
      places.push_back(samples[i].place);
    }
    return DistillationWeights(divergences, places);
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
  const int64_t batch = state_->settings.batch;
  const int64_t first = steps_done() * batch;
  TuningStep step;
  step.rate = state_->optimizer.RateOf(steps_done());
  try {
    std::vector<TuningSample> samples;
    std::vector<at::Tensor> targets;
    for (int64_t index = first; index < first + batch; ++index) {
      context.ThrowIfCancelled();
      targets.push_back(state_->TargetsOf(samples.emplace_back(sample_at(index))));
    }
    const std::vector<double> weights = state_->WeightsOf(samples, targets);
    for (size_t i = 0; i < samples.size(); ++i) {
      context.ThrowIfCancelled();
      context.Report({"tune", first + static_cast<int64_t>(i),
                      batch * state_->settings.optimizer.steps, "samples"});
      const at::Tensor loss = state_->LossOf(samples[i], targets[i]);
      const double value = CheckedLoss(loss, steps_done());
      (loss * (weights[i] / static_cast<double>(batch))).backward();
      state_->MoveGradients();
      step.loss += value / static_cast<double>(batch);
      step.tokens += std::ssize(samples[i].ids);
    }
    step.gradient_norm = state_->optimizer.Step();
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
  double sum = 0;
  for (int64_t index = first; index < first + count; ++index) {
    context.Report({"held-out loss", index - first, count, "samples"});
    const TuningSample sample = sample_at(index);
    sum += state_->LossOf(sample, state_->TargetsOf(sample)).item<double>();
  }
  return sum / static_cast<double>(count);
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
