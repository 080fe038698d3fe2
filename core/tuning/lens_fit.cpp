// SPDX-License-Identifier: MIT
#include "core/tuning/lens_fit.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuning_plans.h"
#include "kernels/check.h"

namespace midscope {
namespace {

DifferentiableModel ModelWithoutGradients(const ModelSource& source,
                                          const LensFitSettings& settings,
                                          const JobContext& context) {
  if (source.config().layers < 2) {
    throw Failure("model " + source.path(),
                  "it has one layer; a lens has matrices of the layers before the last one");
  }
  if (settings.threads > 0) at::set_num_threads(static_cast<int>(settings.threads));
  DifferentiableModel model(source, {.dtype = settings.dtype, .cancel = context.cancel}, context);
  model.SetAdapter({});  // no weight has a gradient
  return model;
}

// The streams of a prompt with the graph between them.
struct StreamGraph {
  std::vector<at::Tensor> after;  // [layer]: after each layer but the last, [token, hidden]
  at::Tensor last;
};

StreamGraph StreamsOf(const DifferentiableModel& model, std::span<const int32_t> ids) {
  StreamGraph graph;
  PassOptions pass;
  pass.stream = [&graph](int64_t layer, const at::Tensor& values) {
    if (layer == 0) return values;  // the graph begins after layer 0
    at::Tensor kept = graph.after.empty() ? values.detach().set_requires_grad(true) : values;
    kept.retain_grad();
    graph.after.push_back(kept);
    return kept;
  };
  graph.last = model.FinalStream(ids, TuningPlans({}, {}, model.config(), std::ssize(ids)), pass);
  return graph;
}

}  // namespace

struct LensFit::State {
  DifferentiableModel model;
};

LensFit::LensFit(const ModelSource& source, const LensFitSettings& settings,
                 const JobContext& context)
    : state_(new State{ModelWithoutGradients(source, settings, context)}) {}

LensFit::~LensFit() = default;

int64_t LensFit::threads() const { return at::get_num_threads(); }

int64_t LensFit::hidden() const { return state_->model.config().hidden; }

void LensFit::Add(std::span<const int32_t> ids, const std::function<void(int64_t)>& report,
                  JacobianLens* lens) const {
  MIDSCOPE_CHECK(std::ssize(ids) >= kLeastLensTokens, "a prompt has positions for the mean");
  const StreamGraph graph = StreamsOf(state_->model, ids);
  const int64_t positions = std::ssize(ids) - 1 - kLensSkippedPositions;
  const int64_t width = hidden();
  std::vector<at::Tensor> jacobians;  // [layer]
  for (size_t layer = 0; layer < graph.after.size(); ++layer)
    jacobians.push_back(at::empty({width, width}, at::kFloat));
  const at::Tensor cotangent = at::zeros_like(graph.last);
  for (int64_t row = 0; row < width; ++row) {
    const at::Tensor ones = cotangent.narrow(0, kLensSkippedPositions, positions).select(1, row);
    ones.fill_(1);
    graph.last.backward(cotangent, /*retain_graph=*/row + 1 < width);
    ones.zero_();
    for (size_t layer = 0; layer < graph.after.size(); ++layer) {
      const at::Tensor& gradient = graph.after[layer].grad();
      jacobians[layer].select(0, row).copy_(
          gradient.narrow(0, kLensSkippedPositions, positions).to(at::kFloat).mean(0));
      graph.after[layer].mutable_grad().reset();
    }
    report(row + 1);
  }

  lens->hidden = width;
  ++lens->prompts;
  for (size_t layer = 0; layer < jacobians.size(); ++layer) {
    std::vector<float>& mean = lens->matrices[static_cast<int64_t>(layer)];
    mean.resize(static_cast<size_t>(width * width));
    at::Tensor values = at::from_blob(mean.data(), {width, width}, at::kFloat);
    values.add_((jacobians[layer] - values) / static_cast<double>(lens->prompts));
  }
}

}  // namespace midscope
