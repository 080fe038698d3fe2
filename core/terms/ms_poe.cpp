// SPDX-License-Identifier: MIT
// Ms-PoE (arXiv 2403.04797). plan/head_ratios.cpp assigns ratios to heads.
#include <algorithm>
#include <string>
#include <utility>

#include "core/intervention/head_ratio_file.h"
#include "core/plan/plan_changes.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"
#include "kernels/position_awareness.h"

namespace midscope::ms_poe {
namespace {

bool OpenEnded(const LayerSet& layers) {
  return !layers.all && layers.ranges.size() == 1 && layers.ranges[0].last == kEveryLayerAfter;
}

MsPoe Read(const TextTerm& term, const TermForm<MsPoe>& form) {
  const TextArgument* first_layer = Find(term, "first_layer");
  const TextArgument* layers = Find(term, "layers");
  if (first_layer && layers) {
    throw ErrorAt(std::max(first_layer->column, layers->column),
                  "'first_layer' and 'layers' both set the first layer",
                  "Leave one of the two out");
  }
  auto value = ReadArguments(term, form);
  const TextArgument* seed = Find(term, "seed");
  if (seed && value.order != MsPoeOrder::kRandom) {
    throw ErrorAt(seed->column, "only order=random takes a seed",
                  "Leave it out, or write order=random");
  }
  return value;
}

void Apply(const MsPoe& scheme, const TermPlans& plans) {
  const ModelConfig& config = plans.config;
  CheckLayers(scheme.layers, config, plans.term);
  bool any = false;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    AttentionPlan& plan = plans.plans[static_cast<size_t>(layer)];
    if (!scheme.layers.Contains(layer) || plan.inverse_frequency.empty()) continue;
    any = true;
    plan.ratio_rule = RatioRule{scheme, layer};
    plan.ratio_rule->scheme.rows = {
        ChannelRows::kAll};  // stored in AttentionPlan::scheme_rows instead
    if (!RatiosAreFixed(*plan.ratio_rule)) continue;
    const std::vector<int64_t> no_counts(static_cast<size_t>(config.heads), 0);
    HeadRatios ratios = ResolveRatios(*plan.ratio_rule, no_counts, config.KeyValueHeads(layer));
    plan.q_ratio = std::move(ratios.q);
    plan.k_ratio = std::move(ratios.k);
  }
  if (!any) RefuseUnrotated(plans, scheme.layers);
}

// Unchanged layers do not count: the public scripts leave the first two unchanged.
double Stretch(const MsPoe& scheme, const ModelConfig&) { return std::min(scheme.min, scheme.max); }

BoundArgument<MsPoe> SeedArgument() {
  BoundArgument<MsPoe> argument =
      NumberArgument<&MsPoe::seed>("seed", "Of order=random.", {0, 9007199254740992.0}, {});
  argument.print = [](const MsPoe& value, const Parameter&) {
    return value.order == MsPoeOrder::kRandom ? MemberText<&MsPoe::seed>(value) : std::string();
  };
  return argument;
}

// Not printed if it is the default.
BoundArgument<MsPoe> AlphaArgument() {
  BoundArgument<MsPoe> argument = NumberArgument<&MsPoe::alpha>(
      "alpha",
      "Of the score: keys whose weight reaches alpha times the mean are counted (the paper's Eq. "
      "1). Only order=score and order=score-reversed look at it.",
      {0.001, 1e6}, kernels::kAwarenessAlpha);
  argument.print = [](const MsPoe& value, const Parameter&) {
    return value.alpha == kernels::kAwarenessAlpha ? std::string()
                                                   : MemberText<&MsPoe::alpha>(value);
  };
  return argument;
}

BoundArgument<MsPoe> FirstLayerArgument() {
  return {DescribedNumber<int64_t>(
              "first_layer",
              "First layer that is changed, zero-based; all later ones are. The paper says 0, the "
              "public scripts 2. Not together with layers.",
              {0, kEveryLayerAfter}, 2),
          [](auto& value, const auto& argument, const auto& described) {
            value.layers = LayerSet::From(Number<int64_t>(OnlyValue(argument), described));
          },
          [](const auto& value, const auto&) {
            return OpenEnded(value.layers) ? std::to_string(value.layers.ranges[0].first)
                                           : std::string();
          }};
}

BoundArgument<MsPoe> NamedLayersArgument() {
  BoundArgument<MsPoe> argument = LayersArgument<MsPoe>(
      "Layers that are changed: all, 8-25 or [2-8,12]. Not together with first_layer.", "");
  argument.print = [](const MsPoe& value, const Parameter&) {
    return OpenEnded(value.layers) ? std::string() : value.layers.Text();
  };
  return argument;
}

std::vector<BoundArgument<MsPoe>> Arguments() {
  return {
      WithSlider(NumberArgument<&MsPoe::min>("min",
                                             "First ratio of the ramp; above max the ramp falls, "
                                             "as in some rows of the paper's Table "
                                             "4.",
                                             {kSmallestRatio, kLargestRatio}, 1.2),
                 0.5, 3),
      WithSlider(NumberArgument<&MsPoe::max>("max", "Last ratio of the ramp.",
                                             {kSmallestRatio, kLargestRatio}, 1.8),
                 0.5, 3),
      ChoiceArgument<&MsPoe::mode>(
          "mode",
          "rank: ratios by rank of the score, as the paper's prose says, keys rotated once per "
          "query head. code: what the public code does (with grouped key heads logits then depend "
          "on where the text begins). group: one ratio for all heads that share keys.",
          {"rank", "code", "group"}),
      ChoiceArgument<&MsPoe::order>(
          "order",
          "score: the most position-aware head gets min. score-reversed: it gets max. sequential: "
          "head 0 gets min. reversed: head 0 gets max (the public code's head_type 'normal', but "
          "for the divisor of mode=code). random: a permutation by seed and layer. entropy: the "
          "head whose last row, before rotation, is spread most gets the ratio nearest to 1. The "
          "paper's Table 3 compares score, random, sequential and entropy; of these the public "
          "code has score alone.",
          {"score", "score-reversed", "sequential", "reversed", "random", "entropy"}),
      AlphaArgument(),
      SeedArgument(),
      FirstLayerArgument(),
      NamedLayersArgument()};
}

bool IsNeutral(const MsPoe& scheme) { return scheme.min == 1 && scheme.max == 1; }

// Assigns the ratios to heads in random order.
bool Randomise(Intervention& intervention, const ModelConfig&, SplitMix64& random) {
  if (intervention.Find<MsPoe>()->order == MsPoeOrder::kRandom) return false;
  intervention.Change<MsPoe>([&random](MsPoe& scheme) {
    scheme.order = MsPoeOrder::kRandom;
    scheme.seed = random.Below(kControlSeeds);
  });
  return true;
}

}  // namespace

TermType Type() {
  return MakePositionTerm<MsPoe>(
      {.name = "ms-poe",
       .summary =
           "Multi-scale positions: each head divides its positions by a ratio of its own, chosen "
           "by how position-aware the head is.",
       .source =
           "Zhang et al. 2024, arXiv 2403.04797. Its public code departs from the paper: it "
           "assigns ratios by argsort instead of rank, divides by the number of heads instead of "
           "that number minus one, leaves the first two layers alone, and gives heads that share "
           "keys different ratios from those keys (mode=code). Its script scores heads for the "
           "gold places 1 and 3 only and runs the others with order=reversed.",
       .arguments = Arguments(),
       .examples = {"ms-poe(min=1.2, max=1.8, mode=rank)"},
       .small_example = "ms-poe(first_layer=0)",
       .read = Read},
      Apply, Stretch,
      {.kind = SchemeKind::kDividesPositions, .changes_nothing = IsNeutral, .control = Randomise});
}

}  // namespace midscope::ms_poe
