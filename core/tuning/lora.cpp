// SPDX-License-Identifier: MIT
#include "core/tuning/lora.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

constexpr double kTwoTo53 = 9007199254740992.0;
constexpr int kUnusedBits = 64 - 53;

// Returns the name within a layer of a matrix that can be adapted; "" for others.
std::string ProjectionOf(const NeededTensor& tensor) {
  const std::string name = tensor.pattern.starts_with("N.") ? tensor.pattern.substr(2) : "";
  const bool of_experts = name.find('.') != std::string::npos || name == "router";
  return tensor.shape.size() == 2 && !of_experts ? name : "";
}

at::Tensor Uniform(int64_t rows, int64_t columns, SplitMix64& random) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(columns));
  at::Tensor values = at::empty({rows, columns}, at::kFloat);
  auto* value = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double share = static_cast<double>(random.Next() >> kUnusedBits) / kTwoTo53;
    value[i] = static_cast<float>(bound * (2 * share - 1));
  }
  return values;
}

}  // namespace

LoraAdapter MakeLora(const LoraSettings& settings, const ModelConfig& config) {
  if (settings.rank < 1) {
    throw UsageError("LoRA rank", "it must be at least 1; it is " + std::to_string(settings.rank));
  }
  LoraAdapter adapter{settings.rank, settings.alpha, false, {}};
  std::set<std::string> missing(settings.projections.begin(), settings.projections.end());
  std::set<std::string> known;
  SplitMix64 random(settings.seed);
  for (const NeededTensor& tensor : NeededTensors(config)) {
    const std::string projection = ProjectionOf(tensor);
    if (projection.empty()) continue;
    known.insert(projection);
    if (std::find(settings.projections.begin(), settings.projections.end(), projection) ==
        settings.projections.end())
      continue;
    missing.erase(projection);
    adapter.tensors[tensor.name() + kLoraA] = Uniform(settings.rank, tensor.shape[1], random);
    adapter.tensors[tensor.name() + kLoraB] = at::zeros({tensor.shape[0], settings.rank});
  }
  if (!missing.empty()) {
    throw UsageError("LoRA projection " + Quote(*missing.begin()), "the model does not have it",
                     "It has " + Joined({known.begin(), known.end()}));
  }
  return adapter;
}

}  // namespace midscope
