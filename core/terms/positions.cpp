// SPDX-License-Identifier: MIT
// Position ids of the prompt's tokens, from a file or a sampler.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/text.h"
#include "core/intervention/position_id_file.h"
#include "core/intervention/term_form.h"
#include "core/plan/run_positions.h"
#include "core/plan/term_plans.h"
#include "core/positions/position_sampler.h"
#include "core/terms/make_term.h"

namespace midscope::positions {
namespace {

using Argument = BoundArgument<GivenPositions>;

constexpr const char* kCorrect = "positions(sampler=randpos)";
// The sampler whose samples have all positions, as many as the prompt has tokens.
constexpr const char* kFullSampler = "full";

std::vector<std::string> SamplerNames() { return NamesIn(PositionSamplers()); }

// Whether the argument is a parameter of the sampler, rather than the edit's own argument.
bool IsOption(const PositionSampler& sampler, const std::string& name) {
  return std::any_of(sampler.parameters.begin(), sampler.parameters.end(),
                     [&](const Parameter& described) { return described.name == name; });
}

// Returns "" if the ids are a sampler's.
std::string Digest(const GivenPositions& given) {
  return given.ids.empty() ? std::string() : PositionIdDigest(given.ids);
}

void ReadFile(const TextTerm& term, GivenPositions& given) {
  for (const TextArgument& argument : term.arguments) {
    if (argument.name == "file" || argument.name == "digest" || argument.name == "rows") continue;
    // Forms also state defaults.
    if (argument.name == "factor" && given.factor == GivenPositions().factor) continue;
    if (argument.name == "seed" && given.seed == GivenPositions().seed) continue;
    throw ErrorAt(argument.column, "'" + argument.name + "' is of samplers, and a file is given",
                  "Leave one of the two out");
  }
  given.ids = ReadTermFile(term, [&](const std::string& file) {
    given.file = file;
    return ReadPositionIds(file);
  });
  CheckDigest(term, "ids", Digest(given));
}

// Reads every parameter of the sampler, given or default.
void ReadOptions(const TextTerm& term, GivenPositions& given) {
  const PositionSampler& sampler = *FindPositionSampler(given.sampler);
  OptionSet options(sampler.parameters);
  for (const TextArgument& argument : term.arguments) {
    if (argument.name == "sampler" || argument.name == "factor" || argument.name == "seed" ||
        argument.name == "rows")
      continue;
    if (!IsOption(sampler, argument.name)) {
      throw ErrorAt(argument.column,
                    "sampler=" + sampler.name + " has no argument '" + argument.name + "'",
                    "Leave it out");
    }
    const TextAtom& atom = OnlyValue(argument);
    const Parameter& described = options.Describe(argument.name);
    options.Set(argument.name, ReadValue(described, atom.text, ThingAt(atom, described)));
  }
  for (const Parameter& described : options.descriptions())
    given.options.emplace_back(described.name, options.Value(described.name));
  if (given.sampler != kFullSampler) return;
  const TextArgument* factor = Find(term, "factor");
  if (factor && given.factor != 1) {
    throw ErrorAt(factor->column,
                  "sampler=full shows every position of the context, so it has as many tokens",
                  "Leave factor out");
  }
  given.factor = 1;
}

GivenPositions Read(const TextTerm& term, const TermForm<GivenPositions>& form) {
  auto given = ReadArguments(term, form);
  if (Find(term, "file")) {
    ReadFile(term, given);
    return given;
  }
  if (given.sampler.empty()) {
    throw ErrorAt(term.column, "'positions' has neither a file nor a sampler",
                  std::string("Write for example ") + kCorrect);
  }
  ReadOptions(term, given);
  return given;
}

void RefuseSecond(const TextTerm& term, const GivenPositions&, const GivenPositions&) {
  throw ErrorAt(term.column, "position ids are given twice", "Keep one of the two");
}

// Checks that a position scheme and the ids have the same rows, so that a row sees both or neither.
void CheckRows(const GivenPositions& given, const TermPlans& plans) {
  const Intervention& intervention = plans.intervention;
  const bool limited = given.rows != RowChoice{ChannelRows::kAll};
  if (!limited || !PositionScheme(intervention)) return;
  if (given.rows == PositionSchemeRows(intervention)) return;
  throw UsageError(plans.term,
                   "only some rows see the ids, and others see " + PositionSchemeName(intervention),
                   "Give both the same rows");
}

// Position embeddings are added once, below the first layer, so every layer's rows see the same
// ids; a learned table has one row per integer.
void ApplyToEmbeddings(const GivenPositions& given, const TermPlans& plans) {
  if (given.rows != RowChoice{ChannelRows::kAll}) {
    throw UsageError(plans.term,
                     std::string("only some rows see the ids, and of the model ") +
                         UnrotatedText(plans.config.positions),
                     "Leave rows out");
  }
  const PositionIds ids = PositionIdsOf(plans.intervention, plans.prompt_tokens);
  if (!ids.given()) return;
  const bool learned = plans.config.positions == PositionKind::kLearned;
  for (int64_t row = 0; row < plans.prompt_tokens; ++row) {
    if (!learned || ids.At(row) == std::floor(ids.At(row))) continue;
    throw UsageError(
        plans.term,
        NumberText(ids.At(row)) + " is not an integer, and the model's positions are learned",
        "Give integers");
  }
  CheckPositionsHeld(plans.intervention, plans.config, plans.prompt_tokens, plans.prompt_tokens);
  plans.plans.front().position_ids = ids;
}

void Apply(const GivenPositions& given, const TermPlans& plans) {
  if (EmbedsPositions(plans.config.positions)) return ApplyToEmbeddings(given, plans);
  if (plans.config.positions != PositionKind::kRotary) {
    throw UsageError(plans.term,
                     std::string("this model has no rotary positions to give ids to: ") +
                         UnrotatedText(plans.config.positions),
                     "crop, boost, ablate and temperature work on all models");
  }
  CheckRows(given, plans);
  const PositionIds ids = PositionIdsOf(plans.intervention, plans.prompt_tokens);
  if (ids.given()) {
    CheckPositionsHeld(plans.intervention, plans.config, plans.prompt_tokens, plans.prompt_tokens);
  }
  for (AttentionPlan& plan : plans.plans) {
    if (plan.near_far && !ids.NeverFall()) {
      throw UsageError(plans.term,
                       "self-extend takes the last keys to be the near ones, and these ids fall",
                       "Give ids that never fall, or another position scheme");
    }
    if (!plan.inverse_frequency.empty()) plan.position_ids = ids;
  }
}

Argument FileArgument() {
  auto argument = TermFileArgument<GivenPositions>(
      "Ids of the prompt's tokens, one each: real numbers from 0, with white space or commas "
      "between, a JSON list, or one sample of midscope positions --json");
  argument.print = [](const GivenPositions& given, const Parameter&) {
    return given.ids.empty() ? std::string() : TermFileText(given.file);
  };
  return argument;
}

Argument SamplerArgument() {
  Parameter described = ChoiceParameter(
      "sampler",
      "Draws ids for the prompt's number of tokens N; the tokens stay as they are. full: 0 to N-1. "
      "midscope help positions describes them and their arguments.",
      SamplerNames());
  described.default_value = {};
  return {described,
          [](auto& given, const auto& argument, const auto& parameter) {
            given.sampler = parameter.choices.at(Choice(OnlyValue(argument), parameter));
          },
          [](const auto& given, const auto&) { return given.sampler; }};
}

// Printed only if there is a sampler.
template <auto kMember>
Argument SamplerNumber(const std::string& name, const std::string& help, Limits limits,
                       double by_default) {
  Argument argument = NumberArgument<kMember>(name, help, limits, by_default);
  argument.print = [](const GivenPositions& given, const Parameter&) {
    return given.sampler.empty() ? std::string() : MemberText<kMember>(given);
  };
  return argument;
}

// Returns the parameters of all samplers, each name once; without defaults, because these depend on
// the sampler.
std::vector<Argument> OptionArguments() {
  std::vector<Argument> arguments;
  for (const PositionSampler& sampler : PositionSamplers()) {
    for (Parameter described : sampler.parameters) {
      const bool known = std::any_of(
          arguments.begin(), arguments.end(),
          [&](const Argument& other) { return other.described.name == described.name; });
      if (known) continue;
      described.help = "Of sampler=" + sampler.name + ": " + described.help + "; by default " +
                       ParameterText(described.default_value) + ".";
      described.default_value = {};
      arguments.push_back({std::move(described),
                           [](GivenPositions&, const TextArgument&, const Parameter&) {},
                           [](const GivenPositions& given, const Parameter& parameter) {
                             for (const auto& [name, value] : given.options) {
                               if (name == parameter.name) return ParameterText(value);
                             }
                             return std::string();
                           }});
    }
  }
  return arguments;
}

// Not printed if it is the default.
Argument RowsOfIds() {
  Argument argument = RowsArgument<GivenPositions>(
      "Query rows that see the ids, their own and those of all keys; the others see the tokens' "
      "own places. A position scheme beside them has the same rows.",
      "all");
  argument.print = [](const GivenPositions& given, const Parameter& described) {
    const bool all = given.rows == RowChoice{ChannelRows::kAll};
    return all ? std::string() : RowsText(given.rows, described);
  };
  return argument;
}

std::vector<Argument> Arguments() {
  std::vector<Argument> arguments = {
      FileArgument(),
      DigestArgument<GivenPositions, Digest>(),
      SamplerArgument(),
      SamplerNumber<&GivenPositions::factor>(
          "factor",
          "The ids are below the context L = factor times the prompt's tokens, rounded down; "
          "1 for sampler=full.",
          {1, 1e6}, 8),
      SamplerNumber<&GivenPositions::seed>(
          "seed", "Of the sampler: prompts with the same number of tokens get the same ids.",
          {0, 9007199254740992.0}, 1),
  };
  for (Argument& argument : OptionArguments()) arguments.push_back(std::move(argument));
  arguments.push_back(RowsOfIds());
  return arguments;
}

}  // namespace

TermType Type() {
  return MakeTerm<GivenPositions>(
      {.name = "positions",
       .summary =
           "Gives the prompt's tokens position ids of one's own, from a file or as a sampler draws "
           "them, before the position scheme divides or groups them. Answered and generated tokens "
           "go on from the last id + 1. Not for models without rotary positions (ALiBi).",
       .source =
           "CREAM (Wu et al. 2024, arXiv 2406.07138), PoSE (arXiv 2309.10400) and RandPos "
           "(arXiv 2305.16843) tune models on such ids; here a model is run on them as it is.",
       .arguments = Arguments(),
       .correct_example = kCorrect,
       .examples = {"positions(sampler=cream, factor=8, seed=1)"},
       .small_example = kCorrect,
       .read = Read},
      Apply, {.check = RefuseSecond});
}

}  // namespace midscope::positions
