// SPDX-License-Identifier: MIT
// Code shared by YaRN and dynamic YaRN: T has the members context (0: the model's), form,
// beta_fast, beta_slow and magnitude (0: computed by the formula). Internal to the folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/intervention/head_ratio_file.h"
#include "core/intervention/rope_schemes.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope {

inline constexpr double kLargestYarnContext = 1 << 24;

template <typename T>
T ReadYarn(const TextTerm& term, const TermForm<T>& form) {
  T value = ReadArguments(term, form);
  if (value.beta_fast > value.beta_slow) return value;
  const TextArgument* fast = Find(term, "beta_fast");
  throw ErrorAt((fast ? fast : Find(term, "beta_slow"))->column,
                "beta_fast (" + NumberText(value.beta_fast) + ") is not above beta_slow (" +
                    NumberText(value.beta_slow) + ")",
                "The papers have beta_fast=32, beta_slow=1");
}

// Returns the trained context that the scheme extends, in tokens: `context`, or the model's if that
// is 0.
inline double OriginalContext(int64_t context, const ModelConfig& config) {
  return static_cast<double>(context > 0 ? context : TrainedContext(config));
}

// TermType::stretch of a factor from that context on.
template <typename T>
double StretchOfFactor(const T& scheme, const ModelConfig& config) {
  return scheme.factor * OriginalContext(scheme.context, config) /
         static_cast<double>(config.trained_context);
}

// Throws Error (usage) if the rotary pairs have no order along which to blend.
inline void CheckPairsHaveOrder(const TermPlans& plans) {
  if (plans.config.rope_base > 1) return;
  throw UsageError(plans.term,
                   "the model's base is not above 1, so pairs have no order to blend along",
                   "Take pi");
}

template <typename T>
void ApplyYarn(const T& scheme, double factor, const TermPlans& plans) {
  CheckPairsHaveOrder(plans);
  const ModelConfig& config = plans.config;
  const YarnSettings settings{factor, OriginalContext(scheme.context, config), scheme.beta_fast,
                              scheme.beta_slow, scheme.form};
  ReplaceFrequencies(plans, {YarnFrequencies(config.rope_base, config.rope_dimensions, settings),
                             scheme.magnitude > 0 ? scheme.magnitude : YarnMagnitude(factor)});
}

template <typename T>
BoundArgument<T> YarnContextArgument() {
  return NumberOrWordArgument<&T::context>(
      "context", "Tokens of the original training; model: the model's own.", "model",
      {1, kLargestYarnContext}, "tokens");
}

// Returns the arguments context, form, beta_fast, beta_slow and magnitude.
template <typename T>
std::vector<BoundArgument<T>> YarnArguments() {
  return {
      YarnContextArgument<T>(),
      ChoiceArgument<&T::form>(
          "form",
          "repo: ramp linear in the pair's index, frequencies blended (also transformers). paper: "
          "ramp linear in rotations. cream: repo's ramp, wavelengths blended.",
          {"repo", "paper", "cream"}),
      NumberArgument<&T::beta_fast>(
          "beta_fast", "Pairs that turn at least so often within the original context stay.",
          {0.001, 1e6}, 32, "rotations"),
      NumberArgument<&T::beta_slow>(
          "beta_slow", "Pairs that turn at most so often are divided by factor; below beta_fast.",
          {0.001, 1e6}, 1, "rotations"),
      NumberOrWordArgument<&T::magnitude>(
          "magnitude",
          "Factor of cos and sin, so logits are multiplied by its square. auto: 0.1 ln(factor) + "
          "1, as paper and code. 1: none, which is 'NTK-by-parts' as the paper defines it.",
          "auto", {kSmallestRatio, 100})};
}

}  // namespace midscope
