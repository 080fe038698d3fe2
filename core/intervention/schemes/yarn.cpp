// SPDX-License-Identifier: MIT
// YaRN (rope_schemes.h).
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/intervention/head_ratio_file.h"
#include "core/intervention/rope_schemes.h"
#include "core/intervention/schemes/schemes.h"
#include "core/plan/scheme_plans.h"

namespace midscope {
namespace {

constexpr double kLargestContext = 1 << 24;

struct Yarn {
  double factor = 4;
  int64_t context = 0;  // tokens of the original training; 0: the model's
  YarnForm form = YarnForm::kRepo;
  double beta_fast = 32;
  double beta_slow = 1;
  double magnitude = 0;  // factor of cos and sin; 0: 0.1 ln factor + 1. 1: NTK-by-parts
  bool operator==(const Yarn&) const = default;
};

Yarn Read(const TextTerm& term, const TermForm<Yarn>& form) {
  Yarn value = ReadArguments(term, form);
  if (value.beta_fast > value.beta_slow) return value;
  const TextArgument* fast = Find(term, "beta_fast");
  throw ErrorAt((fast ? fast : Find(term, "beta_slow"))->column,
                "beta_fast (" + NumberText(value.beta_fast) + ") is not above beta_slow (" +
                    NumberText(value.beta_slow) + ")",
                "The papers have beta_fast=32, beta_slow=1");
}

// Tokens of the training that the scheme starts from.
double OriginalContext(const Yarn& scheme, const ModelConfig& config) {
  return static_cast<double>(scheme.context > 0 ? scheme.context : TrainedContext(config));
}

void Apply(const Yarn& scheme, const SchemePlans& plans) {
  const ModelConfig& config = plans.config;
  if (config.rope_base <= 1) {
    throw UsageError(plans.term,
                     "the model's base is not above 1, so pairs have no order to blend along",
                     "Take pi");
  }
  const YarnSettings settings{scheme.factor, OriginalContext(scheme, config), scheme.beta_fast,
                              scheme.beta_slow, scheme.form};
  ReplaceFrequencies(plans,
                     {YarnFrequencies(config.rope_base, config.rope_dimensions, settings),
                      scheme.magnitude > 0 ? scheme.magnitude : YarnMagnitude(scheme.factor)});
}

double Stretch(const Yarn& scheme, const ModelConfig& config) {
  return scheme.factor * OriginalContext(scheme, config) /
         static_cast<double>(config.trained_context);
}

std::vector<BoundArgument<Yarn>> Arguments() {
  return {
      NumberArgument<&Yarn::factor>("factor", "How much longer the context becomes.",
                                    {1, kLargestRatio}, 4),
      NumberOrWordArgument<&Yarn::context>(
          "context", "Tokens of the original training; model: the model's own.", "model",
          {1, kLargestContext}, "tokens"),
      ChoiceArgument<&Yarn::form>(
          "form",
          "repo: ramp linear in the pair's index, frequencies blended (also transformers). paper: "
          "ramp linear in rotations. cream: repo's ramp, wavelengths blended.",
          {"repo", "paper", "cream"}),
      NumberArgument<&Yarn::beta_fast>(
          "beta_fast", "Pairs that turn at least so often within the original context stay.",
          {0.001, 1e6}, 32, "rotations"),
      NumberArgument<&Yarn::beta_slow>(
          "beta_slow", "Pairs that turn at most so often are divided by factor; below beta_fast.",
          {0.001, 1e6}, 1, "rotations"),
      NumberOrWordArgument<&Yarn::magnitude>(
          "magnitude",
          "Factor of cos and sin, so logits are multiplied by its square. auto: 0.1 ln(factor) + "
          "1, as paper and code. 1: none, which is 'NTK-by-parts'.",
          "auto", {kSmallestRatio, 100})};
}

}  // namespace

SchemeType YarnScheme() {
  return MakeScheme<Yarn>(
      {.name = "yarn",
       .summary =
           "YaRN: pairs that turn often within the original context stay, those that hardly turn "
           "are divided by factor, those between are blended, and logits are sharpened. Replaces "
           "the model's own base scaling; layers with local frequencies (gemma3) keep theirs.",
       .source =
           "Peng et al. 2023, arXiv 2309.00071. Its public code blends along the pair's index, the "
           "paper along the number of rotations, and the code of PoSE (arXiv 2309.10400) and CREAM "
           "(arXiv 2406.07138) blends wavelengths (form=).",
       .arguments = Arguments(),
       .bare_arguments = 1,
       .examples = {"yarn(4, context=2048, form=repo)"},
       .small_example = "yarn(4)",
       .read = Read},
      Apply, Stretch, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope
