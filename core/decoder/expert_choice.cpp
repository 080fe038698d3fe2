// SPDX-License-Identifier: MIT
#include "core/decoder/expert_choice.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/decoder/mlp.h"

namespace midscope {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

void ScoresOfLogits(ExpertScore score, std::span<float> values) {
  if (score == ExpertScore::kSigmoid) {
    for (float& value : values) value = 1.0f / (1.0f + std::exp(-value));
    return;
  }
  const float largest = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (float& value : values) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (float& value : values) value /= sum;
}

// Returns the indices of the `count` largest values, largest first.
std::vector<size_t> Largest(std::span<const float> values, int64_t count) {
  std::vector<size_t> places(values.size());
  std::iota(places.begin(), places.end(), size_t{0});
  const auto end = places.begin() + count;
  std::partial_sort(places.begin(), end, places.end(), [values](size_t a, size_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  places.erase(end, places.end());
  return places;
}

// Excludes experts outside the best groups: sets their entries of `choice` to -infinity.
void LeaveOutGroups(const ExpertSettings& settings, std::span<float> choice) {
  const size_t width = choice.size() / static_cast<size_t>(settings.groups);
  std::vector<float> scores;
  for (size_t first = 0; first < choice.size(); first += width) {
    const auto group = choice.subspan(first, width);
    float sum = 0;
    for (const size_t place : Largest(group, settings.groups_by_largest ? 1 : 2))
      sum += group[place];
    scores.push_back(sum);
  }
  std::vector<bool> kept(scores.size(), false);
  for (const size_t group : Largest(scores, settings.groups_per_row)) kept[group] = true;
  for (size_t expert = 0; expert < choice.size(); ++expert) {
    if (!kept[expert / width]) choice[expert] = kNever;
  }
}

// Replaces logits by weights for ExpertScore::kSparseMixer. A chosen expert's weight is its softmax
// over the logits close to its own (2 * jitter), without the experts chosen before it.
void MixSparsely(const ExpertSettings& settings, std::span<float> logits) {
  std::vector<float> weights(logits.size(), 0.0f);
  for (const size_t chosen : Largest(logits, settings.per_row)) {
    const float largest = logits[chosen];
    float sum = 0;
    for (size_t expert = 0; expert < logits.size(); ++expert) {
      const float size = std::max(std::abs(logits[expert]), largest);
      const bool close = largest - logits[expert] <= 2 * static_cast<float>(settings.jitter) * size;
      if (close && weights[expert] == 0) sum += std::exp(logits[expert] - largest);
    }
    weights[chosen] = 1 / sum;
  }
  std::copy(weights.begin(), weights.end(), logits.begin());
}

// Returns the weights of MixSparsely for all rows of logits [row, expert], differentiable.
at::Tensor SparselyMixedRows(const ExpertSettings& settings, const at::Tensor& logits) {
  at::Tensor others = logits;
  at::Tensor weights = at::zeros_like(logits);
  for (int64_t turn = 0; turn < settings.per_row; ++turn) {
    const auto [largest, chosen] = others.detach().max(-1, /*keepdim=*/true);
    const at::Tensor size = at::maximum(logits.detach().abs(), largest);
    const at::Tensor far = largest - logits.detach() > size * (2 * settings.jitter);
    const at::Tensor shares = at::softmax(others.masked_fill(far, kNever), -1);
    weights = weights.scatter(1, chosen, shares.gather(1, chosen));
    others = others.scatter(1, chosen, kNever);
  }
  return weights;
}

}  // namespace

void ChooseExperts(const ExpertSettings& settings, std::span<const float> choice_bias,
                   std::span<float> values) {
  if (settings.score == ExpertScore::kSparseMixer) return MixSparsely(settings, values);
  std::vector<float> choice(values.begin(), values.end());
  ScoresOfLogits(settings.score, values);
  if (!settings.scales_input) choice.assign(values.begin(), values.end());
  for (size_t expert = 0; expert < choice_bias.size(); ++expert)
    choice[expert] += choice_bias[expert];
  if (settings.groups > 1) LeaveOutGroups(settings, choice);
  const std::vector<size_t> chosen = Largest(choice, settings.per_row);
  std::vector<float> weights(values.size(), 0.0f);
  auto sum = static_cast<float>(settings.sum_epsilon);
  for (const size_t expert : chosen) sum += values[expert];
  for (const size_t expert : chosen) {
    weights[expert] = (settings.normalised ? values[expert] / sum : values[expert]) *
                      static_cast<float>(settings.scale);
  }
  std::copy(weights.begin(), weights.end(), values.begin());
}

at::Tensor ExpertWeightsOfRows(const ExpertSettings& settings, const at::Tensor& logits,
                               const at::Tensor& choice_bias) {
  if (settings.score == ExpertScore::kSparseMixer) return SparselyMixedRows(settings, logits);
  const at::Tensor scores =
      settings.score == ExpertScore::kSoftmax ? at::softmax(logits, -1) : at::sigmoid(logits);
  at::Tensor choice = (settings.scales_input ? logits : scores).detach();
  if (choice_bias.defined()) choice = choice + choice_bias;
  if (settings.groups > 1) {
    const at::Tensor groups = choice.unflatten(1, {settings.groups, -1});
    const int64_t counted = settings.groups_by_largest ? 1 : 2;
    const at::Tensor of_groups = std::get<0>(groups.topk(counted, -1)).sum(-1);
    const at::Tensor kept = std::get<1>(of_groups.topk(settings.groups_per_row, -1));
    const at::Tensor left_out = at::ones_like(of_groups, at::kBool).scatter(1, kept, 0);
    choice = groups.masked_fill(left_out.unsqueeze(2), kNever).flatten(1);
  }
  const at::Tensor chosen = std::get<1>(choice.topk(settings.per_row, -1));
  at::Tensor weights = scores.gather(1, chosen);
  if (settings.normalised)
    weights = weights / (weights.sum(-1, /*keepdim=*/true) + settings.sum_epsilon);
  return at::zeros_like(scores).scatter(1, chosen, weights * settings.scale);
}

}  // namespace midscope
