// SPDX-License-Identifier: MIT
// Activation patching: rows take values of another run.
#include "core/intervention/patch.h"

#include <vector>

#include <fmt/format.h>

#include "core/base/parameter.h"
#include "core/intervention/term_form.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope {
namespace {

constexpr std::string_view kPlaceMark = "place:";
constexpr std::string_view kNextMark = "next:";
constexpr std::string_view kSettingMark = "setting:";
constexpr std::string_view kSourceMark = "source:";

const std::vector<std::string>& WhatNames() {
  static const std::vector<std::string> names = {"resid", "q",        "k",      "v",
                                                 "z",     "attn_out", "mlp_out"};
  return names;
}

bool HasHeads(PatchWhat what) {
  return what == PatchWhat::kQuery || what == PatchWhat::kKey || what == PatchWhat::kValue ||
         what == PatchWhat::kZ;
}

bool EveryHead(const Patch& patch) { return patch.heads == std::vector<HeadName>{HeadName::All()}; }

PatchSource ReadSource(const TextAtom& atom) {
  const std::string_view text = atom.text;
  const auto behind = [&](std::string_view mark) {
    std::string name(text.substr(mark.size()));
    if (name.empty())
      throw ErrorAt(atom.column, "a value is missing after '" + std::string(mark) + "'");
    return name;
  };
  const auto place_behind = [&](std::string_view mark) {
    const Parameter place = WholeNumberParameter("from", "", 0, kEveryLayerAfter, 1);
    return Number<int64_t>({behind(mark), atom.column}, place);
  };
  if (text.starts_with(kPlaceMark))
    return {PatchSource::Kind::kPlace, place_behind(kPlaceMark), {}};
  if (text.starts_with(kNextMark)) return {PatchSource::Kind::kNext, place_behind(kNextMark), {}};
  if (text.starts_with(kSettingMark)) return {PatchSource::Kind::kSetting, 1, behind(kSettingMark)};
  if (text.starts_with(kSourceMark)) return {PatchSource::Kind::kSource, 1, behind(kSourceMark)};
  throw ErrorAt(
      atom.column, "'" + atom.text + "' is not a run whose values can be taken",
      "Write place:1 (the same sample with the gold piece there), next:1 (the task's next "
      "sample with its gold piece there), \"setting:pi(1.5)\" (the same prompt under that "
      "setting) or source:NAME (a prompt of --source-prompt-file)");
}

BoundArgument<Patch> SourceArgument() {
  return {Required(TextParameter(
              "from",
              "The run whose values are taken, itself without any term. place:N: the same sample "
              "with the gold piece at place N. next:N: the task's next sample with its gold piece "
              "there; the last one's next is the first. setting:TEXT: the same prompt under that "
              "setting, "
              "in quotation marks where it has brackets (\"setting:pi(1.5)\"). source:NAME: the "
              "prompt of --source-prompt-file NAME=FILE.")),
          [](Patch& value, const TextArgument& argument, const Parameter&) {
            value.source = ReadSource(OnlyValue(argument));
          },
          [](const Patch& value, const Parameter&) {
            const std::string text = value.source.Text();
            return IsWord(text) ? text : '"' + text + '"';
          }};
}

BoundArgument<Patch> PatchSpanArgument() {
  auto span = RequiredArgument(ChosenRowsArgument<&Patch::span>("span", ""));
  span.described.help =
      "The rows that are replaced: a passage by name (gold, question) or as tokens (400:600), or "
      "of the prompt last, last:N, all. The source's are those of the same passage in its prompt.";
  span.read = [](Patch& value, const TextArgument& argument, const Parameter&) {
    value.span = ReadChosenRows(argument);
    if (!value.span.by_rule || value.span.rule.rows != ChannelRows::kAnswer) return;
    throw ErrorAt(OnlyValue(argument).column, "the source has no answer rows to take",
                  "Write last for the last prompt row");
  };
  return span;
}

void Resolve(Patch& patch, const SpanResolver& resolver) { ResolveRows(patch.span, resolver); }

void Apply(const Patch& patch, const TermPlans& plans) {
  const RowRange rows = RowsOf(patch.span, patch.layers, plans);
  if (!HasHeads(patch.what) && !EveryHead(patch)) {
    throw UsageError(plans.term,
                     fmt::format("{} belongs to no head, so that heads= has no meaning",
                                 WhatNames()[static_cast<size_t>(patch.what)]),
                     "Leave heads out, or take q, k, v or z");
  }
  // If the source has not been run yet: the rows that the patch would change.
  const TakenRows taken =
      patch.taken.rows.empty() ? TakenRows{PromptRows(rows, plans.prompt_tokens)} : patch.taken;
  if (!HasHeads(patch.what)) {
    return ForLayers(patch.layers, plans, [&](AttentionPlan& plan, int64_t) {
      plan.patches.push_back({patch.what, taken, {}});
    });
  }
  const bool of_keys = patch.what == PatchWhat::kKey || patch.what == PatchWhat::kValue;
  bool any = false;
  ForLayersAndHeads(patch.layers, patch.heads, plans,
                    [&](AttentionPlan& plan, const LayerHeads& heads) {
                      if (of_keys && plans.config.SharesKeys(&plan - plans.plans.data())) return;
                      any = true;
                      plan.patches.push_back({patch.what, taken, heads});
                    });
  if (any) return;
  throw UsageError(plans.term,
                   "layers " + patch.layers.Text() + " read the keys and values of earlier layers",
                   "Name a layer that projects its own: what is replaced there is also replaced "
                   "for the layers that read it");
}

}  // namespace

std::string PatchSource::Text() const {
  switch (kind) {
    case Kind::kPlace:
      return std::string(kPlaceMark) + std::to_string(place);
    case Kind::kNext:
      return std::string(kNextMark) + std::to_string(place);
    case Kind::kSetting:
      return std::string(kSettingMark) + name;
    default:
      return std::string(kSourceMark) + name;
  }
}

TermType patch::Type() {
  return MakeTerm<Patch>(
      {.name = kPatchTerm,
       .summary = "Activation patching: rows take the values that another run has there. sweep, "
                  "scan and whatif run it.",
       .source = "Vig et al. 2020, arXiv 2004.12265; Meng et al. 2022, arXiv 2202.05262. Values "
                 "and names of hook points as in TransformerLens; resid is hook_resid_post, q, k "
                 "and v are before rotation.",
       .arguments = {SourceArgument(),
                     ChoiceArgument<&Patch::what>(
                         "what",
                         "What is replaced. resid: the stream after the block. q, k, v: before "
                         "rotation. z: outputs of heads. attn_out, mlp_out: what is added to the "
                         "stream.",
                         WhatNames()),
                     PatchSpanArgument(), LayersArgument<Patch>(),
                     HeadSetArgument<Patch>(
                         "Of q and z: heads that are replaced; of k and v the key heads that these "
                         "read."),
                     ChoiceArgument<&Patch::align>(
                         "align",
                         "Where the passage has more tokens in one prompt than in the other. none: "
                         "refused. end, start: the last or first of both. mean: each row takes the "
                         "mean of the source's.",
                         {"none", "end", "start", "mean"})},
       .correct_example = "patch(from=place:1, span=last)",
       .examples = {"patch(from=place:1, what=resid, span=last, layers=20)",
                    "patch(from=\"setting:pi(1.5)\", what=z, span=question, heads=L12H3)"},
       .small_example = "patch(from=place:1, what=z, span=gold)"},
      Apply, {.resolve = Resolve});
}

}  // namespace midscope
