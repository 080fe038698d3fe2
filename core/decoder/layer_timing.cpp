// SPDX-License-Identifier: MIT
#include "core/decoder/layer_timing.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "core/base/seconds_since.h"
#include "core/compute/layer_devices.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/prepare_sequence.h"
#include "core/plan/context_limit.h"

namespace midscope {
namespace {

constexpr size_t kFewestPasses = 3;
constexpr size_t kMostPasses = 15;
// Beyond it, passes with so many rows are only repeated up to kFewestPasses.
constexpr double kSeconds = 0.3;

// A model that ends after its first layer.
class FirstLayer {
 public:
  FirstLayer(const ModelSource& source, DecoderOptions options, const Arithmetic& arithmetic,
             const kernels::Executor& executor, const JobContext& context)
      : config_(source.config()), dtype_(arithmetic.dtype), executor_(executor), context_(context) {
    config_.layers = 1;
    config_.attention.resize(1);
    config_.beyond_context = true;  // the time does not depend on what the positions mean
    // The first device's: layers are split between devices of one kind as a rule.
    options.placement.shares = {{options.placement.shares.front().device, 1}};
    const WeightOptions how =
        Resolved({.dtype = dtype_, .storage = options.weights, .products = arithmetic.products},
                 source.config(), options.placement);
    weights_ = LoadFirstLayer(source, how, executor, context);
    devices_ = LayerDevices(options.placement, dtype_, executor);
    PlaceWeights(devices_, executor, &weights_);
  }

  bool HasWholeNumbers() { return HasWholeNumberProducts(weights_.layers.front()); }

  // Of fewer rows where the model has no position for more.
  double SecondsOf(int64_t rows) {
    rows = std::min(rows, LongestRun({}, config_));
    std::vector<int32_t> ids(static_cast<size_t>(rows));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>(static_cast<int64_t>(i) % config_.vocabulary);
    RunRequest request;
    request.ids = ids;
    std::vector<SequencePass> sequences;
    sequences.push_back(PrepareSequence(request, 0, config_, dtype_, devices_.Devices()));
    JobContext quiet = context_;
    quiet.progress = nullptr;
    ForwardPass pass({config_, weights_, devices_, dtype_, rotary_, executor_}, quiet);
    const auto start = std::chrono::steady_clock::now();
    pass.Run(sequences);
    // A GPU is done when its result can be read.
    if (!devices_.Of(0).host_memory()) pass.residual().cpu();
    return SecondsSince(start);
  }

 private:
  ModelConfig config_;
  kernels::Dtype dtype_;
  const kernels::Executor& executor_;
  const JobContext& context_;
  Weights weights_;
  LayerDevices devices_;
  RotaryCache rotary_;
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<std::vector<double>> TimeFirstLayer(const ModelSource& source,
                                                const DecoderOptions& options,
                                                const std::vector<Arithmetic>& arithmetics,
                                                const std::vector<int64_t>& rows,
                                                const kernels::Executor& executor,
                                                const JobContext& context) {
  std::vector<std::unique_ptr<FirstLayer>> layers;
  std::vector<size_t> timed;  // places in `arithmetics`
  for (size_t i = 0; i < arithmetics.size(); ++i) {
    auto layer = std::make_unique<FirstLayer>(source, options, arithmetics[i], executor, context);
    const bool whole_numbers = arithmetics[i].products != options.products;
    if (whole_numbers && !layer->HasWholeNumbers()) continue;
    layers.push_back(std::move(layer));
    timed.push_back(i);
  }
  std::vector<std::vector<double>> seconds(arithmetics.size());
  for (const int64_t count : rows) {
    std::vector<std::vector<double>> passes(layers.size());
    for (const auto& layer : layers) layer->SecondsOf(count);  // memory, tables, first use
    const auto start = std::chrono::steady_clock::now();
    while (passes.front().size() < kFewestPasses ||
           (passes.front().size() < kMostPasses && SecondsSince(start) < kSeconds)) {
      for (size_t i = 0; i < layers.size(); ++i) {
        context.ThrowIfCancelled();
        passes[i].push_back(layers[i]->SecondsOf(count));
      }
    }
    for (size_t i = 0; i < passes.size(); ++i)
      seconds[timed[i]].push_back(Median(std::move(passes[i])));
  }
  return seconds;
}

}  // namespace midscope
