// SPDX-License-Identifier: MIT
#include "core/tuning/activation_gradients.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "core/base/random.h"
#include "core/compute/device_facts.h"
#include "core/compute/layer_devices.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuning_plans.h"
#include "kernels/check.h"

namespace midscope {
namespace {

DifferentiableModel FrozenModel(const ModelSource& source, const GradientSettings& settings,
                                const JobContext& context) {
  // Refused before weights are loaded.
  CheckDevices({{{settings.device}}});
  (void)TuningPlans(settings.setting, {}, source.config(), 2);
  if (settings.threads > 0) at::set_num_threads(static_cast<int>(settings.threads));
  DifferentiableModel model(
      source,
      {.dtype = settings.dtype, .device = TorchDevice(settings.device), .cancel = context.cancel},
      context);
  model.SetAdapter({});  // no weight has a gradient
  return model;
}

// Tensors of layers, by layer.
using OfLayers = std::map<int64_t, at::Tensor>;

// Makes `values` of a layer keep its gradient. Returns it, or a leaf if it does not depend on one.
at::Tensor Kept(int64_t layer, const at::Tensor& values, OfLayers* kept) {
  at::Tensor leaf = values.requires_grad() ? values : values.detach().set_requires_grad(true);
  leaf.retain_grad();
  return (*kept)[layer] = leaf;
}

std::vector<double> Values(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kCPU, at::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

// Returns the squared norms [layer, token] of the gradients of streams [token, hidden], for the
// first `tokens` tokens.
at::Tensor SquaredNorms(const OfLayers& streams, int64_t tokens) {
  std::vector<at::Tensor> norms;
  norms.reserve(streams.size());
  for (const auto& [layer, stream] : streams)
    norms.push_back(stream.grad().narrow(0, 0, tokens).to(at::kDouble).square().sum(1));
  return at::stack(norms);
}

void ForgetGradients(const OfLayers& tensors) {
  for (const auto& [layer, tensor] : tensors) tensor.mutable_grad().reset();
}

// Returns `size` signs, -1 or 1, which depend on the seed and the number of the cotangent.
at::Tensor Signs(uint64_t seed, int64_t cotangent, int64_t size) {
  SplitMix64 random(seed, static_cast<uint64_t>(cotangent));
  std::vector<float> signs(static_cast<size_t>(size));
  for (float& sign : signs) sign = random.Below(2) == 0 ? -1.0F : 1.0F;
  return at::tensor(signs);
}

// Writes the numbers of a layer's heads to `to` [layer, head], where those of layers without
// attention stay 0.
void SetHeads(const at::Tensor& values, int64_t layer, const ActivationGradients& found,
              std::vector<double>* to) {
  const std::vector<double> of_layer = Values(values);
  to->resize(static_cast<size_t>(found.layers * found.heads));
  std::copy(of_layer.begin(), of_layer.end(), to->begin() + layer * found.heads);
}

// Sets the products of the gradient of the answer's nll with the changes of a layer's heads
// z [head, token, width]. Answer rows begin at `first_answer_row`.
void SetHeadEffects(const at::Tensor& z, int64_t layer, int64_t first_answer_row,
                    ActivationGradients* found) {
  const int64_t rows = z.size(1);
  const at::Tensor values = z.detach().to(at::kDouble);
  const at::Tensor gradient = z.grad().to(at::kDouble);
  const at::Tensor counts = at::arange(1, rows + 1, values.options()).view({1, -1, 1});
  const at::Tensor to_zero = (gradient * -values).sum(2);  // [head, row]
  const at::Tensor to_mean = (gradient * (values.cumsum(1) / counts - values)).sum(2);
  const auto set = [&](int64_t first, HeadEffects* effects) {
    SetHeads(to_zero.narrow(1, first, rows - first).sum(1), layer, *found, &effects->zero);
    SetHeads(to_mean.narrow(1, first, rows - first).sum(1), layer, *found, &effects->mean);
  };
  set(first_answer_row, &found->answer_rows);
  set(0, &found->all_rows);
}

// Returns the outputs [head, width] of each layer's heads in the last row.
OfLayers LastRowHeads(const DifferentiableModel& model, const std::vector<int32_t>& ids) {
  const c10::NoGradGuard no_gradients;
  OfLayers heads;
  PassOptions pass;
  pass.first_logit_row = std::ssize(ids) - 1;
  pass.heads = [&](int64_t layer, const at::Tensor& values) {
    heads[layer] = values.select(1, pass.first_logit_row).to(at::kDouble);
    return values;
  };
  (void)model.Logits(ids, TuningPlans({}, {}, model.config(), std::ssize(ids)), pass);
  return heads;
}

}  // namespace

struct GradientPass::State {
  GradientSettings settings;
  DifferentiableModel model;
};

GradientPass::GradientPass(const ModelSource& source, const GradientSettings& settings,
                           const JobContext& context)
    : state_(new State{settings, FrozenModel(source, settings, context)}) {}

GradientPass::~GradientPass() = default;

int64_t GradientPass::threads() const { return at::get_num_threads(); }

ActivationGradients GradientPass::Run(const GradientRequest& request) const {
  const auto all = std::span(request.ids);
  const auto prompt_tokens = static_cast<size_t>(request.prompt_tokens);
  MIDSCOPE_CHECK(prompt_tokens >= 1 && prompt_tokens <= all.size(), "a prompt has tokens");
  const auto answer = all.subspan(prompt_tokens);
  const auto ids = answer.empty() ? all : all.first(all.size() - 1);
  const DifferentiableModel& model = state_->model;
  const auto plans =
      TuningPlans(state_->settings.setting, {}, model.config(), static_cast<int64_t>(ids.size()));

  OfLayers source;
  if (!request.source_ids.empty()) source = LastRowHeads(model, request.source_ids);
  OfLayers streams;
  OfLayers heads;
  PassOptions pass;
  pass.first_logit_row = request.prompt_tokens - 1;
  pass.stream = [&](int64_t layer, const at::Tensor& x) { return Kept(layer, x, &streams); };
  pass.heads = [&](int64_t layer, const at::Tensor& z) { return Kept(layer, z, &heads); };
  const at::Tensor logits = model.Logits(ids, plans, pass);
  const auto report = [&] {
    if (request.on_pass) request.on_pass();
  };
  report();

  ActivationGradients found;
  found.layers = model.config().layers;
  found.tokens = request.prompt_tokens;
  found.heads = model.config().heads;
  found.answer_nll = std::numeric_limits<double>::quiet_NaN();
  if (!answer.empty()) {
    const at::Tensor next = at::tensor(std::vector<int64_t>(answer.begin(), answer.end()));
    const at::Tensor nll =
        at::cross_entropy_loss(logits, next.to(logits.device()), {}, at::Reduction::Sum);
    found.answer_nll = nll.item<double>();
    nll.backward({}, /*retain_graph=*/request.cotangents > 0);
    found.answer_norm = Values(SquaredNorms(streams, request.prompt_tokens).sqrt());
    for (const auto& [layer, z] : heads) SetHeadEffects(z, layer, pass.first_logit_row, &found);
    for (const auto& [layer, replacing] : source) {
      const auto last = [&](const at::Tensor& z) {
        return z.select(1, pass.first_logit_row).to(at::kDouble);
      };
      const at::Tensor& z = heads.at(layer);
      const at::Tensor change = replacing - last(z.detach());
      SetHeads((last(z.grad()) * change).sum(1), layer, found, &found.last_row_patch);
    }
  }
  report();
  at::Tensor squares;
  for (int64_t i = 0; i < request.cotangents; ++i) {
    ForgetGradients(streams);
    const at::Tensor signs = Signs(request.seed, i, logits.size(1)).to(logits.device());
    (logits.select(0, 0) * signs).sum().backward({}, /*retain_graph=*/i + 1 < request.cotangents);
    const at::Tensor norms = SquaredNorms(streams, request.prompt_tokens);
    squares = squares.defined() ? squares + norms : norms;
    report();
  }
  if (squares.defined())
    found.output_norm = Values((squares / static_cast<double>(request.cotangents)).sqrt());
  return found;
}

}  // namespace midscope
