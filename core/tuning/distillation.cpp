// SPDX-License-Identifier: MIT
#include "core/tuning/distillation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace midscope {
namespace {

struct PlaceDivergence {
  double sum = 0;
  double largest = 0;
  double samples = 0;

  double mean() const { return sum / samples; }
};

}  // namespace

at::Tensor LastLogProbabilities(const at::Tensor& logits, int64_t tokens) {
  return at::log_softmax(logits.narrow(0, logits.size(0) - 1 - tokens, tokens).to(at::kFloat), -1);
}

at::Tensor Divergence(const at::Tensor& teacher, const at::Tensor& student) {
  return (teacher.exp() * (teacher - student)).sum(-1).mean();
}

std::vector<double> DistillationWeights(std::span<const double> divergences,
                                        std::span<const int64_t> places) {
  std::map<int64_t, PlaceDivergence> others;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] == 0) continue;
    PlaceDivergence& place = others[places[i]];
    place.sum += divergences[i];
    place.largest = std::max(place.largest, divergences[i]);
    place.samples += 1;
  }
  double sum_of_exponentials = 0;
  for (const auto& [place, at] : others) sum_of_exponentials += std::exp(at.mean());
  std::vector<double> weights(places.size(), 1);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] == 0) continue;
    const PlaceDivergence& place = others.at(places[i]);
    const double share = std::exp(place.mean()) / sum_of_exponentials;
    const double of_place = place.largest > 0 ? divergences[i] / place.largest : 0;
    weights[i] = static_cast<double>(others.size()) * share / place.samples * of_place;
  }
  return weights;
}

}  // namespace midscope
