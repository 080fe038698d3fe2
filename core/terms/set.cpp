// SPDX-License-Identifier: MIT
// Sets channels of the residual stream to a value.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/intervention/term_form.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::set {
namespace {

struct Set {
  int64_t channel = 0;
  ChosenRows span;
  std::optional<double> to = 0;  // nullopt: the mean
  LayerSet layers;
  bool operator==(const Set&) const = default;
};

constexpr const char* kZero = "zero";
constexpr const char* kMean = "mean";

BoundArgument<Set> ToArgument() {
  Parameter described = DescribedNumber<double>(
      "to",
      "The value. zero: 0. mean: the channel's mean over all rows of the prompt after the same "
      "block of the same run, so that rows see what later ones hold; answer rows do not count.",
      {-1e6, 1e6});
  described.choices = {kZero, kMean};
  described.default_value = kZero;
  return {described,
          [](Set& value, const TextArgument& argument, const Parameter& parameter) {
            const TextAtom& atom = OnlyValue(argument);
            if (atom.text == kMean) {
              value.to.reset();
            } else {
              value.to = atom.text == kZero ? 0 : Number<double>(atom, parameter);
            }
          },
          [](const Set& value, const Parameter&) -> std::string {
            if (!value.to) return kMean;
            return *value.to == 0 ? kZero : NumberText(*value.to);
          }};
}

BoundArgument<Set> SpanOfSetArgument() {
  BoundArgument<Set> span = ChosenRowsArgument<&Set::span>("span", "The rows whose channel is set");
  span.described.default_value = "all";
  return span;
}

void Resolve(Set& set, const SpanResolver& resolver) { ResolveRows(set.span, resolver); }

void Apply(const Set& set, const TermPlans& plans) {
  if (set.channel < 0 || set.channel >= plans.config.hidden) {
    throw UsageError(fmt::format("{}({})", plans.term, set.channel),
                     "the model has no such channel",
                     fmt::format("It has channels 0-{}", plans.config.hidden - 1));
  }
  const RowRange rows = RowsOf(set.span, set.layers, plans);
  ForLayers(set.layers, plans, [&](AttentionPlan& plan, int64_t) {
    plan.residual.set.push_back({rows, set.channel, set.to});
  });
}

}  // namespace

TermType Type() {
  return MakeTerm<Set>(
      {.name = "set",
       .summary = "Sets a channel of the residual stream after the blocks, for chosen rows. Of "
                  "several that set the same value the last holds.",
       .source = "Sun et al. 2024, arXiv 2402.17762, section 4: massive activations set to zero or "
                 "to their mean. There the mean is a constant over many texts: give it as a "
                 "number. to=mean is another: it takes from a channel what differs by position.",
       .arguments = {RequiredArgument(NumberArgument<&Set::channel>(
                         "channel", "Hidden channel, zero-based.", {0, kEveryLayerAfter}, {})),
                     SpanOfSetArgument(), ToArgument(),
                     LayersArgument<Set>("After which blocks: all, 8-25 or [2-8,12].")},
       .bare_arguments = 1,
       .correct_example = "set(100, span=gold, to=zero)",
       .examples = {"set(100, span=0:1, to=zero, layers=3-20)", "set(507, to=mean)"},
       .small_example = "set(0, span=gold, to=3)"},
      Apply, {.resolve = Resolve});
}

}  // namespace midscope::set
