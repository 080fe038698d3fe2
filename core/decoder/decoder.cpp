// SPDX-License-Identifier: MIT
#include "core/decoder/decoder.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/base/error.h"
#include "core/compute/aten_executor.h"
#include "core/compute/device_facts.h"
#include "core/compute/device_faults.h"
#include "core/compute/layer_devices.h"
#include "core/compute/weights.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/logit_direction.h"
#include "core/decoder/recorded_rows.h"
#include "core/decoder/run_sequences.h"
#include "core/decoder/trace_storage.h"
#include "core/model/model_source.h"
#include "core/plan/near_far_plan.h"
#include "core/plan/plan_changes.h"
#include "core/plan/run_positions.h"
#include "kernels/check.h"
#include "kernels/instruction_set.h"

namespace midscope {

struct Decoder::Parts {
  // Loads the weights and moves them to the devices of their layers.
  void Load(std::unique_ptr<ModelSource> from, const JobContext& context);
  PassParts OfPass() const { return {config, weights, devices, options.dtype, rotary, executor}; }

  std::unique_ptr<ModelSource> source;  // owns stored weights; null if they are expanded
  std::string path;
  mutable std::string hash;
  mutable std::once_flag hashed;
  DecoderOptions options;
  ModelConfig config;
  std::unique_ptr<Tokenizer> tokenizer;
  AtenExecutor executor;
  Weights weights;
  LayerDevices devices;
  std::shared_ptr<const DeviceFaults> faults;
  mutable RotaryCache rotary;
  mutable std::mutex running;             // held by a pass, because one pass uses every thread
  mutable std::set<std::string> advised;  // advice that has been logged; guarded by `running`
};

Decoder::Decoder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Decoder::~Decoder() = default;

const ModelConfig& Decoder::config() const { return parts_->config; }
const Tokenizer& Decoder::tokenizer() const { return *parts_->tokenizer; }
const DecoderOptions& Decoder::options() const { return parts_->options; }
const std::string& Decoder::path() const { return parts_->path; }
const std::string& Decoder::hash() const {
  std::call_once(parts_->hashed, [&] {
    if (parts_->source) parts_->hash = parts_->source->Hash();
  });
  return parts_->hash;
}
const std::string& Decoder::chat_template() const { return parts_->tokenizer->chat_template(); }

namespace {

void SwitchWindowsOff(ModelConfig& config, const JobContext& context) {
  bool any = false;
  for (LayerAttention& layer : config.attention) {
    any = any || layer.window > 0 || layer.chunk > 0;
    layer.window = 0;
    layer.chunk = 0;
  }
  if (!any) context.Log("sliding window: the model has none, so there is nothing to switch off");
}

void CheckProducts(const DecoderOptions& options) {
  if (options.products == Products::kFloat) return;
  const std::string thing = "products '" + ProductsName(options.products) + "'";
  if (options.weights == WeightStorage::kExpanded) {
    throw UsageError(thing, "expanded weights no longer hold the file's integers",
                     "Use --weights stored, or leave it out");
  }
  if (!options.placement.IsPlainCpu()) {
    throw UsageError(thing, "only the CPU's own kernels have them",
                     "Use --device cpu, or --products float");
  }
}

// Throws Error for float16 on the CPU, whose kernels have no arithmetic for it.
void CheckDtype(const DecoderOptions& options) {
  const bool on_kernels = options.placement.Has(DeviceKind::kCpu);
  if (options.dtype != kernels::Dtype::kFloat16 || options.auto_dtype || !on_kernels) return;
  throw UsageError("dtype 'float16'", "the CPU's own kernels do not compute in it",
                   "Use --dtype bfloat16 or float32, or --device cuda:N or cpu:portable");
}

// Logs the dtype, unless it is float32, the usual case.
void LogDtype(const DecoderOptions& options, const ModelConfig& config, const JobContext& context) {
  if (options.auto_dtype) {
    if (AutoDtype(config, options.placement) != kernels::Dtype::kFloat32)
      context.Log(AutoDtypeText(config, options.placement));
  } else if (options.dtype == kernels::Dtype::kBFloat16 && options.placement.IsPlainCpu() &&
             !kernels::HasBFloat16Products()) {
    context.Log("dtype: this CPU has no products in bfloat16; float32 is mostly faster here");
  }
}

void WarnWithoutWholeNumbers(Weights& weights, Products products, const JobContext& context) {
  if (weights.output.weight.HasWholeNumberProducts() ||
      HasWholeNumberProducts(weights.layers.front())) {
    return;
  }
  context.Warn("products: " + ProductsName(products) +
               " changes nothing: the file's formats are none of Q4_0, Q4_1, Q5_0, Q5_1, "
               "Q8_0, IQ4_NL, Q4_K, Q5_K and Q6_K");
}

}  // namespace

std::shared_ptr<Decoder> Decoder::Open(const std::string& model, const DecoderOptions& options,
                                       const JobContext& context) {
  const c10::InferenceMode inference;
  CheckDevices(options.placement);
  CheckProducts(options);
  CheckDtype(options);
  auto parts = std::make_unique<Parts>();
  RunnableModel opened = OpenRunnableModel(model);
  std::unique_ptr<ModelSource> source = std::move(opened.source);
  parts->path = source->path();
  parts->options = options;
  parts->config = std::move(opened.config);
  parts->tokenizer = std::move(opened.tokenizer);
  for (const std::string& note : parts->config.notes) context.Warn("model: " + note);
  if (!options.sliding_window) SwitchWindowsOff(parts->config, context);
  parts->config.beyond_context = options.beyond_context;
  parts->options.placement = FillLayers(options.placement, parts->config.layers);
  parts->faults = std::make_shared<DeviceFaults>(parts->options.placement);
  if (options.threads > 0) at::set_num_threads(options.threads);
  parts->options.threads = at::get_num_threads();
  UseSignalStacks();
  try {
    if (options.auto_dtype) parts->options.dtype = AutoDtype(parts->config, options.placement);
    LogDtype(options, parts->config, context);
    parts->Load(std::move(source), context);
  } catch (...) {
    parts->faults->Rethrow(DeviceWork::kWeights);
  }
  return std::shared_ptr<Decoder>(new Decoder(std::move(parts)));
}

void Decoder::Parts::Load(std::unique_ptr<ModelSource> from, const JobContext& context) {
  const kernels::Dtype dtype = options.dtype;
  const WeightOptions how =
      Resolved({.dtype = dtype, .storage = options.weights, .products = options.products}, config,
               options.placement);
  options.weights = how.storage;
  const bool stored = options.weights == WeightStorage::kStored;
  if (!stored) hash = from->Hash();
  weights = LoadWeights(*from, how, executor, context);
  if (options.products != Products::kFloat)
    WarnWithoutWholeNumbers(weights, options.products, context);
  from->CheckWhole();
  if (stored || config.layer_input_width > 0) source = std::move(from);
  devices = LayerDevices(options.placement, dtype, executor);
  PlaceWeights(devices, executor, &weights);
}

std::vector<float> Decoder::Unembed(std::span<const float> residual,
                                    const JobContext& context) const {
  const c10::InferenceMode inference;
  const std::lock_guard lock(parts_->running);
  return OnDevices(*parts_->faults, DeviceWork::kRun, [&] {
    ForwardPass pass(parts_->OfPass(), context);
    return pass.Unembed(residual);
  });
}

std::vector<float> Decoder::PositionEmbedding(double position) const {
  const ModelConfig& config = parts_->config;
  const bool inside = position >= 0 && position < static_cast<double>(config.trained_context);
  if (!EmbedsPositions(config.positions) ||
      (config.positions == PositionKind::kLearned && !inside)) {
    throw std::logic_error("the model has no embedding of the position");
  }
  const c10::InferenceMode inference;
  const std::lock_guard lock(parts_->running);
  at::Tensor row =
      at::empty({config.hidden}, at::TensorOptions().dtype(TorchType(parts_->options.dtype)));
  parts_->weights.positions.Row(position, row.data_ptr());
  row = row.to(at::kFloat);
  const auto* values = row.const_data_ptr<float>();
  return {values, values + config.hidden};
}

LogitDirection Decoder::DirectionBetween(int32_t token, int32_t against) const {
  if (parts_->config.stream_norms) {
    throw UsageError("attribution",
                     "this model normalises the stream itself after attention and MLP, so logits "
                     "are not the sum of what its parts add");
  }
  const c10::InferenceMode inference;
  const std::lock_guard lock(parts_->running);
  return OnDevices(*parts_->faults, DeviceWork::kRun, [&] {
    return MakeLogitDirection(parts_->config, parts_->weights, token, against);
  });
}

HeadDirections Decoder::DirectionsOfHeads(int64_t layer, std::span<const float> z,
                                          std::span<const double> direction) const {
  const c10::InferenceMode inference;
  const std::lock_guard lock(parts_->running);
  return OnDevices(*parts_->faults, DeviceWork::kRun, [&] {
    return MakeHeadDirections(parts_->config, parts_->weights.layers[static_cast<size_t>(layer)], z,
                              direction);
  });
}

std::unique_ptr<Trace> Decoder::MakeTrace(int64_t capacity, bool residual,
                                          int64_t first_layer) const {
  const c10::InferenceMode inference;
  return OnDevices(*parts_->faults, DeviceWork::kTrace, [&] {
    auto trace = AllocateTrace(parts_->config, parts_->options.dtype, capacity, residual,
                               first_layer, parts_->devices.Devices());
    trace->storage().faults = parts_->faults;
    return trace;
  });
}

int64_t Decoder::TraceBytes(int64_t rows, const TraceParts& parts) const {
  const std::vector<at::Device> devices = parts_->devices.Devices();
  const auto shared = parts.residual ? static_cast<size_t>(parts.first_layer) : devices.size();
  std::vector<at::Device> distinct;
  for (size_t layer = 0; layer < shared; ++layer) {
    if (std::find(distinct.begin(), distinct.end(), devices[layer]) == distinct.end())
      distinct.push_back(devices[layer]);
  }
  return rows * TraceBytesPerRow(parts_->config, parts_->options.dtype, parts,
                                 static_cast<int64_t>(distinct.size())) +
         parts.memories * MemoryBytes(parts_->config) +
         MixerStateBytes(parts_->config, rows, parts.first_layer);
}

namespace {

// Checks a batch that contains re-runs. Their rows differ from layer to layer, which determines the
// layer at which the other sequences enter from their traces.
void CheckBatch(std::span<const RunRequest> requests) {
  const auto reruns = [](const RunRequest& request) { return request.rerun.has_value(); };
  const auto can_enter = [](const RunRequest& request) {
    return request.trace && request.trace->has_residual();
  };
  MIDSCOPE_CHECK(std::none_of(requests.begin(), requests.end(), reruns) ||
                     std::all_of(requests.begin(), requests.end(), can_enter),
                 "a batch with a re-run needs traces with residual rows");
  const auto ends_early = [](const RunRequest& request) {
    return request.rerun && request.rerun->end_layer >= 0;
  };
  MIDSCOPE_CHECK(requests.size() < 2 || std::none_of(requests.begin(), requests.end(), ends_early),
                 "a re-run that ends below the last layer must be alone in its batch");
}

// Checks sequences that do not change their traces (keep = false): they must start in the same
// layer, and cannot use data that a run stores in its trace.
void CheckUnkept(const std::vector<SequencePass>& sequences) {
  const auto unkept = [](const SequencePass& sequence) { return !sequence.keeps(); };
  if (std::none_of(sequences.begin(), sequences.end(), unkept)) return;
  MIDSCOPE_CHECK(std::all_of(sequences.begin(), sequences.end(), unkept),
                 "a batch keeps the rows of all its sequences or of none");
  const int64_t first = sequences.front().FirstLayer();
  for (const SequencePass& sequence : sequences) {
    MIDSCOPE_CHECK_EQ(sequence.FirstLayer(), first);
    for (size_t layer = static_cast<size_t>(first); layer < sequence.plans.size(); ++layer) {
      MIDSCOPE_CHECK_EQ(sequence.first_row[layer], sequence.first_row.back());
      MIDSCOPE_CHECK(!LeavesData(sequence.plans[layer]), "rows that are not kept");
    }
  }
}

// Logs advice about the runs, without repetition.
void Advise(std::span<const RunRequest> requests, const ModelConfig& config,
            const JobContext& context, std::set<std::string>& said) {
  for (const RunRequest& request : requests) {
    const auto* scheme = request.intervention.Find<SelfExtend>();
    if (!scheme) continue;
    const auto rows = static_cast<int64_t>(request.ids.size());
    const int64_t tokens = PositionsTaken(
        request.intervention, request.prompt_tokens > 0 ? request.prompt_tokens : rows, rows);
    const std::string advice = SelfExtendAdvice(*scheme, config, tokens);
    if (!advice.empty() && said.insert(advice).second) context.Warn(advice);
  }
}

// Truncates traces to the rows that are valid after an incomplete run.
void CutBack(std::vector<SequencePass>& sequences) {
  for (SequencePass& sequence : sequences) {
    if (sequence.keeps())
      sequence.trace->Truncate(std::min(sequence.changed_row.back(), sequence.trace->rows()));
  }
}

}  // namespace

std::vector<RunResult> Decoder::Run(std::span<const RunRequest> requests,
                                    const JobContext& context) const {
  const c10::InferenceMode inference;
  const std::lock_guard lock(parts_->running);
  UseSignalStacks();
  const ModelConfig& config = parts_->config;
  const std::vector<at::Device> devices = parts_->devices.Devices();
  CheckBatch(requests);
  std::vector<SequencePass> sequences;
  OnDevices(*parts_->faults, DeviceWork::kRun, [&] {
    for (const RunRequest& request : requests) {
      sequences.push_back(PrepareSequence(request, static_cast<int64_t>(sequences.size()), config,
                                          parts_->options.dtype, devices));
    }
  });
  if (sequences.empty()) return {};
  CheckUnkept(sequences);
  Advise(requests, config, context, parts_->advised);
  parts_->rotary.BeginRun();
  ForwardPass pass(parts_->OfPass(), context);
  std::vector<RunResult> results;
  try {
    if (const at::Tensor logits = RunRecorded(sequences, parts_->OfPass()); logits.defined()) {
      context.Report({kRunStage, config.layers, config.layers, "layers"});
      results.push_back(
          CollectResult(sequences.front(), pass.LogitsFrom(logits), config, parts_->options.dtype));
    } else {
      pass.Run(sequences);
      if (parts_->source) parts_->source->CheckWhole();
      results = CollectResults(sequences, requests, config, parts_->options.dtype, pass);
    }
  } catch (...) {
    CutBack(sequences);
    parts_->faults->Rethrow(DeviceWork::kRun, pass.layer());
  }
  for (SequencePass& sequence : sequences) {
    if (sequence.keeps())
      sequence.trace->Set(sequence.rows, sequence.prompt_tokens, std::move(sequence.plans));
  }
  return results;
}

RunResult Decoder::RunOne(const RunRequest& request, const JobContext& context) const {
  return std::move(Run(std::span(&request, 1), context).front());
}

}  // namespace midscope
