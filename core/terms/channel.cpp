// SPDX-License-Identifier: MIT
// Positional channel scaling (arXiv 2406.02536).
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::channel {
namespace {

// Reads the values of an argument that accepts one or several.
template <typename T>
std::vector<T> Numbers(const TextArgument& argument, const Parameter& described) {
  std::vector<T> numbers;
  for (const TextAtom& atom : argument.values) numbers.push_back(Number<T>(atom, described));
  return numbers;
}

// One term scales several channels; they share its layers and rows.
std::vector<ChannelScaling> ReadAll(const TextTerm& term, const TermForm<ChannelScaling>& form) {
  const ChannelScaling shared = ReadArguments(term, form);
  RequireArguments(term, "channel(100, factor=-1)");
  const TextArgument& channel = *Find(term, "channel");
  const TextArgument& factor = *Find(term, "factor");
  const auto channels = Numbers<int64_t>(channel, form.arguments[0].described);
  const auto factors = Numbers<double>(factor, form.arguments[1].described);
  if (factor.list && factors.size() != channels.size()) {
    throw ErrorAt(factor.column,
                  fmt::format("{} factors for {} channels", factors.size(), channels.size()),
                  "Give one factor, or one for each channel");
  }
  std::vector<ChannelScaling> scalings;
  scalings.reserve(channels.size());
  for (size_t i = 0; i < channels.size(); ++i) {
    scalings.push_back(shared);
    scalings.back().channel = channels[i];
    scalings.back().factor = factors[factor.list ? i : 0];
  }
  return scalings;
}

bool Overlap(const LayerSet& a, const LayerSet& b) {
  if (a.all || b.all) return true;
  return std::any_of(a.ranges.begin(), a.ranges.end(), [&b](const LayerSet::Range& x) {
    return std::any_of(b.ranges.begin(), b.ranges.end(), [&x](const LayerSet::Range& y) {
      return x.first <= y.last && y.first <= x.last;
    });
  });
}

void CheckNew(const TextTerm& term, const ChannelScaling& before, const ChannelScaling& scaling) {
  if (before.channel != scaling.channel || !Overlap(before.layers, scaling.layers)) return;
  throw ErrorAt(term.column,
                fmt::format("channel {} is scaled twice in the same layer", scaling.channel),
                "Give each channel one factor a layer");
}

void AddToLayer(const ChannelScaling& scaling, const RowRange& rows, int64_t layer,
                const std::string& term, AttentionPlan& plan) {
  auto& override = plan.row_override;
  if (!override) {
    override = RowOverride{rows.first, rows.last, {}};
  } else if (override->first_row != rows.first || override->last_row != rows.last) {
    throw UsageError(term, fmt::format("layer {} has another channel term with other rows", layer),
                     "Give channel terms that share a layer the same rows=");
  }
  for (const auto& other : override->channels) {
    if (other.channel == scaling.channel) {
      throw UsageError(term, fmt::format("layer {} scales this channel twice", layer),
                       "Give one factor for a channel and layer");
    }
  }
  override->channels.push_back({scaling.channel, scaling.factor, scaling.change_value});
}

void Apply(const ChannelScaling& scaling, const TermPlans& plans) {
  const std::string term = fmt::format("{}({})", plans.term, scaling.channel);
  if (scaling.channel < 0 || scaling.channel >= plans.config.hidden) {
    throw UsageError(term, "the model has no such channel",
                     fmt::format("It has channels 0-{}", plans.config.hidden - 1));
  }
  CheckLayers(scaling.layers, plans.config, term);
  const RowRange rows = RowsOf(scaling.rows, plans.prompt_tokens);
  ForAttentionLayers(scaling.layers, plans, [&](AttentionPlan& plan, int64_t layer) {
    AddToLayer(scaling, rows, layer, term, plan);
  });
}

// Not printed if it is "no".
BoundArgument<ChannelScaling> ChangeValueArgument() {
  auto argument = ChoiceArgument<&ChannelScaling::change_value>(
      "change_value",
      "yes: the values that those rows see come from scaled input too (the public code can do so "
      "and never does). no: they stay clean.",
      {"no", "yes"});
  argument.print = [](const ChannelScaling& value, const Parameter& described) {
    return value.change_value ? described.choices.at(1) : std::string();
  };
  return argument;
}

Parameter Several(Parameter parameter) {
  parameter.several = true;
  return Required(std::move(parameter));
}

std::vector<BoundArgument<ChannelScaling>> Arguments() {
  using Argument = BoundArgument<ChannelScaling>;
  return {Argument{Several(DescribedNumber<int64_t>(
                       "channel", "Hidden channel, or several in brackets; zero-based.",
                       {0, kEveryLayerAfter})),
                   [](auto&, const auto& argument, const auto& described) {
                     Numbers<int64_t>(argument, described);  // ReadAll reads the values
                   },
                   [](const auto& value, const auto&) { return std::to_string(value.channel); }},
          WithSlider(
              Argument{Several(DescribedNumber<double>(
                           "factor",
                           "What the channel is multiplied by; one, or one a channel in brackets.",
                           {-1000, 1000})),
                       [](auto&, const auto& argument, const auto& described) {
                         Numbers<double>(argument, described);
                       },
                       [](const auto& value, const auto&) { return NumberText(value.factor); }},
              -2, 2),
          LayersArgument<ChannelScaling>(),
          RowsArgument<ChannelScaling>("Rows whose queries see scaled input.", "answer"),
          ChangeValueArgument()};
}

bool IsNeutral(const ChannelScaling& scaling) { return scaling.factor == 1; }

// Replaces every scaled channel by a random one that the setting does not scale.
bool Randomise(Intervention& intervention, const ModelConfig& config, SplitMix64& random) {
  const auto scalings = intervention.All<ChannelScaling>();
  std::vector<int64_t> others;
  others.reserve(static_cast<size_t>(config.hidden));
  for (int64_t channel = 0; channel < config.hidden; ++channel) {
    const bool scaled =
        std::any_of(scalings.begin(), scalings.end(),
                    [&](const ChannelScaling& scaling) { return scaling.channel == channel; });
    if (!scaled) others.push_back(channel);
  }
  // If a channel is scaled twice, both get the same replacement.
  std::map<int64_t, int64_t> drawn;
  for (const ChannelScaling& scaling : scalings) {
    if (drawn.contains(scaling.channel)) continue;
    if (others.empty()) return false;
    const auto at = others.begin() + static_cast<std::ptrdiff_t>(random.Below(others.size()));
    drawn[scaling.channel] = *at;
    others.erase(at);
  }
  intervention.Change<ChannelScaling>(
      [&drawn](ChannelScaling& scaling) { scaling.channel = drawn[scaling.channel]; });
  return true;
}

}  // namespace

TermType Type() {
  return MakeTerm<ChannelScaling>(
      {.name = "channel",
       .summary =
           "Scales hidden channels in what queries and keys are made from; values stay clean "
           "unless change_value=yes.",
       .source =
           "Yu et al. 2024, arXiv 2406.02536. rows=last is the paper read strictly; its public "
           "code also scales for every answer token (rows=answer).",
       .arguments = Arguments(),
       .bare_arguments = 1,
       .examples = {"channel(100, factor=-1, layers=8-25)",
                    "ms-poe(min=1.2, max=1.8) + channel([100,215], factor=[-1,0], "
                    "layers=[2-8,12])"},
       .small_example = "channel(0, factor=-1)"},
      Apply,
      {.read_all = ReadAll, .check = CheckNew, .changes_nothing = IsNeutral, .control = Randomise});
}

}  // namespace midscope::channel
