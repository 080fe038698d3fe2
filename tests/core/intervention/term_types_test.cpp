// SPDX-License-Identifier: MIT
// Contract: a term that is described is also parsed, printed and applied, and so is each of its
// arguments. The tests iterate over the list, so that they cover terms that are added later.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/error.h"
#include "core/intervention/intervention_grammar.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"
#include "core/plan/run_positions.h"
#include "core/terms/intervention_json.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ModelConfig Config() {
  ModelConfig config;
  config.layers = 4;
  config.heads = 4;
  config.key_value_heads = 2;
  config.head_dim = 8;
  config.rope_dimensions = 8;
  config.hidden = 32;
  config.rope_base = 10000;
  config.trained_context = 100;
  return config;
}

// Longer than the trained context, so that dynamic schemes change something; `gold` is one of the
// pieces and not the first.
Prompt LongPrompt() {
  Prompt prompt;
  prompt.ids.resize(150);
  const auto add = [&](const std::string& name, int64_t begin, int64_t end) {
    PromptSpan span;
    span.name = name;
    span.token_begin = begin;
    span.token_end = end;
    prompt.spans.push_back(span);
  };
  add("pair 1", 5, 9);
  add("gold", 20, 30);
  add("pair 2", 20, 30);
  return prompt;
}

ModelConfig BeyondContext() {
  ModelConfig config = Config();
  config.beyond_context = true;
  return config;
}

std::vector<AttentionPlan> Plans(const Intervention& intervention) {
  return CompilePlans(ResolvePassages(intervention, LongPrompt()), BeyondContext(), 150);
}

// The intervention of a term's example, or a value made by its file.
Intervention ExampleOf(const TermType& type) {
  return type.sample ? type.sample(Config()) : ParseIntervention(type.small_example);
}

// Terms that change something by themselves.
std::vector<const TermType*> ListedTerms() {
  std::vector<const TermType*> types;
  for (const TermType& type : TermTypes()) {
    if (type.apply) types.push_back(&type);
  }
  return types;
}

TEST(TermTypes, EveryFileIsListed) {
  size_t types = 0;
  const auto folder = std::filesystem::path(MIDSCOPE_TESTS).parent_path() / "core/terms";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    types += text.find("\nTermType ") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(TermTypes().size(), types);
  EXPECT_EQ(TermTypes().front().name, "none");
  EXPECT_EQ(ListedTerms().size() + 2, TermTypes().size()) << "all but none and preset";
}

TEST(TermTypes, AreDescribed) {
  std::set<std::string> names;
  for (const TermType& term : TermTypes()) {
    EXPECT_TRUE(names.insert(term.name).second) << term.name;
    EXPECT_FALSE(term.summary.empty()) << term.name;
    EXPECT_FALSE(term.examples.empty()) << term.name;
    EXPECT_LE(term.bare_arguments, term.arguments.size()) << term.name;
    std::set<std::string> arguments;
    for (const Parameter& argument : term.arguments) {
      EXPECT_TRUE(arguments.insert(argument.name).second) << term.name << " " << argument.name;
      EXPECT_FALSE(argument.help.empty()) << term.name << " " << argument.name;
    }
  }
}

TEST(TermTypes, ExamplesOfHelpShowTheTerm) {
  for (const TermType& term : TermTypes()) {
    if (term.sample) continue;  // the reader's own
    for (const std::string& example : term.examples) {
      EXPECT_THAT(example, HasSubstr(term.name));
      EXPECT_NO_THROW(ParseIntervention(example)) << example;
    }
  }
}

TEST(TermTypes, AreReadPrintedAndReadBack) {
  for (const TermType* term : ListedTerms()) {
    const Intervention read = ExampleOf(*term);
    EXPECT_FALSE(read.empty()) << term->name;
    const std::string text = PrintIntervention(read);
    EXPECT_THAT(text, StartsWith(term->name));
    ASSERT_EQ(read.terms.size(), 1u) << term->name;
    EXPECT_EQ(&read.terms.front().type(), term);
    if (term->sample) continue;  // of no file that could be read back
    EXPECT_EQ(ParseIntervention(text), read) << text;
    EXPECT_EQ(PrintIntervention(ParseIntervention(text)), text);
    EXPECT_EQ(ParseIntervention(InterventionToJson(read)), read) << text;
  }
}

TEST(TermTypes, ChangePlans) {
  const std::vector<AttentionPlan> plain = Plans({});
  for (const TermType* term : ListedTerms())
    EXPECT_NE(Plans(ExampleOf(*term)), plain) << term->name;
}

// Where a model cannot take a term, it is refused by its name, not left out.
TEST(TermTypes, AreRefusedByName) {
  ModelConfig alibi = BeyondContext();
  alibi.positions = PositionKind::kAlibi;
  const auto plain = CompilePlans({}, alibi, 150);
  for (const TermType* term : ListedTerms()) {
    const Intervention resolved = ResolvePassages(ExampleOf(*term), LongPrompt());
    try {
      EXPECT_NE(CompilePlans(resolved, alibi, 150), plain) << term->name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), StartsWith(term->name));
    }
  }
}

TEST(TermTypes, SchemesNeverShortenTheContext) {
  for (const TermType* type : ListedTerms()) {
    const Intervention example = ExampleOf(*type);
    EXPECT_GE(ContextOf(example, Config()), 100) << type->name;
    if (type->stage != TermStage::kPositions) continue;
    EXPECT_GT(type->stretch(example.terms.front(), Config()), 0) << type->name;
  }
}

TEST(TermTypes, SpansAreResolved) {
  for (const TermType* listed : ListedTerms()) {
    const TermType& type = *listed;
    const bool has_span = std::any_of(
        type.arguments.begin(), type.arguments.end(),
        [](const Parameter& argument) { return argument.kind == ParameterKind::kSpan; });
    EXPECT_EQ(type.names_span, has_span) << type.name;
    const Intervention example = ExampleOf(type);
    EXPECT_EQ(ResolvePassages(example, LongPrompt()) != example, has_span) << type.name;
    if (!has_span) continue;
    EXPECT_THROW(ResolvePassages(example, Prompt()), Error) << type.name;
    // Infini-attention's memory has no tokens.
    Intervention both = ResolvePassages(example, LongPrompt());
    both.Add(TermOf(InfiniAttention{64}));
    EXPECT_THROW(CompilePlans(both, BeyondContext(), 150), Error) << type.name;
  }
}

// The example with one argument as given; the others as the example has them.
std::string WithArgument(const TermType& term, const std::string& name, const std::string& value) {
  std::string text;
  const std::vector<TextTerm> example = ParseTerms(term.small_example, TermTypes());
  for (const TextArgument& argument : example.front().arguments) {
    if (argument.name == name) continue;
    text += (text.empty() ? "" : ", ") + argument.name + "=" + argument.values.front().text;
  }
  text += (text.empty() ? "" : ", ") + name + "=" + value;
  return term.name + "(" + text + ")";
}

// Another value than the default that is allowed.
std::string OtherValue(const Parameter& argument) {
  if (IsNumber(argument)) {
    const auto* number = std::get_if<double>(&argument.default_value);
    const auto* whole = std::get_if<int64_t>(&argument.default_value);
    if (number && *number != 0) return ParameterText(*number / 2);
    return whole && *whole != 0 ? ParameterText(*whole / 2) : "7";
  }
  if (argument.kind == ParameterKind::kHeads) return "L1H2";
  if (argument.kind == ParameterKind::kSpan) return "5:9";
  for (const std::string& choice : argument.choices) {
    if (choice != ParameterText(argument.default_value) && choice != argument.numbered_choice)
      return choice;
  }
  return "0";
}

// An argument that is described and not read, or printed from another member, fails here.
TEST(TermTypes, EveryArgumentIsReadAndPrinted) {
  for (const TermType* term : ListedTerms()) {
    if (term->sample) continue;  // tests of their own files
    for (const Parameter& argument : term->arguments) {
      const std::string usual = ParameterText(argument.default_value);
      if (usual.empty()) continue;
      const std::string value = OtherValue(argument);
      const Intervention by_default = ParseIntervention(WithArgument(*term, argument.name, usual));
      const Intervention other = ParseIntervention(WithArgument(*term, argument.name, value));
      EXPECT_NE(other, by_default) << term->name << " " << argument.name << "=" << value;
      EXPECT_THAT(PrintIntervention(other), HasSubstr(value)) << argument.name;
      EXPECT_EQ(ParseIntervention(PrintIntervention(other)), other);
    }
  }
}

// The default in the help is the value of a term without the argument.
TEST(TermTypes, DefaultsAreTheDescribedOnes) {
  for (const TermType* term : ListedTerms()) {
    if (term->sample) continue;
    const auto given = ParseTerms(term->small_example, TermTypes()).front().arguments;
    const Intervention example = ParseIntervention(term->small_example);
    for (const Parameter& argument : term->arguments) {
      const bool is_given = std::any_of(given.begin(), given.end(), [&](const TextArgument& other) {
        return other.name == argument.name;
      });
      const std::string usual = ParameterText(argument.default_value);
      if (usual.empty() || is_given) continue;
      EXPECT_EQ(ParseIntervention(WithArgument(*term, argument.name, usual)), example)
          << term->name << " " << argument.name;
    }
  }
}

TEST(Term, ComparesTypeAndValue) {
  const Term half = TermOf(PositionInterpolation{2});
  EXPECT_EQ(half, TermOf(PositionInterpolation{2}));
  EXPECT_NE(half, TermOf(PositionInterpolation{3}));
  EXPECT_NE(half, TermOf(MsPoe()));
  EXPECT_EQ(half.As<MsPoe>(), nullptr);
  EXPECT_EQ(half.As<PositionInterpolation>()->ratio, 2);
  // A value that no listed type has is an error, not `none`.
  struct Other {
    bool operator==(const Other&) const = default;
  };
  EXPECT_THROW(TermOf(Other()), std::logic_error);
}

TEST(Term, StandsBehindThoseOfItsType) {
  Intervention setting = ParseIntervention("boost(span=1:2) + pi(2) + crop(span=3:4)");
  setting.Add(TermOf(Crop{{"", 5, 6}, {}}));
  setting.Add(TermOf(PositionInterpolation{3}));  // in place of the other
  EXPECT_EQ(PrintIntervention(setting),
            "pi(3) + crop(span=3:4, layers=all, keep=first) + crop(span=5:6, layers=all, "
            "keep=first) + " +
                PrintIntervention(ParseIntervention("boost(span=1:2)")));
  EXPECT_EQ(setting.All<Crop>().size(), 2u);
}

// A term's controls and values without effect are in its own file.
TEST(TermTypes, ValuesWithoutEffectAreLeftOut) {
  const Intervention setting = ParseIntervention(
      "pi(1) + channel(3, factor=1) + channel(4, factor=2) + boost(span=1:2, factor=1) + "
      "temperature(L0H0, 1) + move(span=1:2, to=shift:0)");
  EXPECT_EQ(PrintIntervention(WithoutNeutralTerms(setting)),
            PrintIntervention(ParseIntervention("channel(4, factor=2)")));
}

}  // namespace
}  // namespace midscope
