// SPDX-License-Identifier: MIT
// Contract: a scheme or an edit that is described is also read, printed, applied and counted, and
// none of its arguments is described alone. The tests go through the lists, so that they hold for
// terms that are added.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/intervention/edit_type.h"
#include "core/intervention/intervention_json.h"
#include "core/intervention/passage.h"
#include "core/intervention/scheme_type.h"
#include "core/plan/attention_plan.h"
#include "core/plan/context_limit.h"
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

// Whether its example names a file.
bool NeedsFile(const Term& term) {
  const SchemeType* scheme = FindScheme(term.name);
  const EditType* edit = FindEdit(term.name);
  return (scheme && scheme->sample) || (edit && edit->sample);
}

// Of a term's example, or of a value that its file makes.
Intervention ExampleOf(const Term& term) {
  if (!NeedsFile(term)) return ParseIntervention(term.small_example);
  if (const EditType* edit = FindEdit(term.name)) return edit->sample(Config());
  Intervention intervention;
  intervention.positions = FindScheme(term.name)->sample(Config());
  return intervention;
}

// Terms of schemes and edits that change something.
std::vector<const Term*> ListedTerms() {
  std::vector<const Term*> terms;
  for (const SchemeType& type : SchemeTypes()) {
    if (type.term.name != "none") terms.push_back(&type.term);
  }
  for (const EditType& type : EditTypes()) terms.push_back(&type.term);
  return terms;
}

// Files of a folder of core/intervention, but for those of the list.
size_t FilesOf(const std::string& folder) {
  size_t files = 0;
  const auto path = std::filesystem::path(MIDSCOPE_TESTS).parent_path() / "core/intervention";
  for (const auto& entry : std::filesystem::directory_iterator(path / folder)) {
    files += entry.path().extension() == ".cpp" && entry.path().stem() != folder ? 1 : 0;
  }
  return files;
}

TEST(TermTypes, EveryFileIsListed) {
  EXPECT_EQ(SchemeTypes().size(), FilesOf("schemes"));
  EXPECT_EQ(EditTypes().size(), FilesOf("edits"));
  EXPECT_EQ(InterventionTerms().size(), SchemeTypes().size() + EditTypes().size() + 1);
  EXPECT_EQ(SchemeTypes().front().term.name, "none");
}

TEST(TermTypes, AreDescribed) {
  std::set<std::string> names;
  for (const Term& term : InterventionTerms()) {
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
  for (const Term& term : InterventionTerms()) {
    if (NeedsFile(term)) continue;  // the reader's own
    for (const std::string& example : term.examples) {
      EXPECT_THAT(example, HasSubstr(term.name));
      EXPECT_NO_THROW(ParseIntervention(example)) << example;
    }
  }
}

TEST(TermTypes, AreReadPrintedAndReadBack) {
  for (const Term* term : ListedTerms()) {
    const Intervention read = ExampleOf(*term);
    EXPECT_FALSE(read.empty()) << term->name;
    const std::string text = PrintIntervention(read);
    EXPECT_THAT(text, StartsWith(term->name));
    if (const SchemeType* scheme = FindScheme(term->name)) {
      EXPECT_EQ(&SchemeTypeOf(read.positions), scheme);
      EXPECT_EQ(SchemeName(read.positions), term->name);
    } else {
      EXPECT_EQ(FindEdit(term->name)->count(read), 1u) << term->name;
    }
    if (NeedsFile(*term)) continue;  // of no file that could be read back
    EXPECT_EQ(ParseIntervention(text), read) << text;
    EXPECT_EQ(PrintIntervention(ParseIntervention(text)), text);
    EXPECT_EQ(ParseIntervention(InterventionToJson(read)), read) << text;
  }
}

TEST(TermTypes, ChangePlans) {
  const std::vector<AttentionPlan> plain = Plans({});
  for (const Term* term : ListedTerms()) EXPECT_NE(Plans(ExampleOf(*term)), plain) << term->name;
}

// Where a model cannot take a term, it is refused by its name, not left out.
TEST(TermTypes, AreRefusedByName) {
  ModelConfig alibi = BeyondContext();
  alibi.positions = PositionKind::kAlibi;
  const auto plain = CompilePlans({}, alibi, 150);
  for (const Term* term : ListedTerms()) {
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
  for (const SchemeType& type : SchemeTypes()) {
    const Intervention example = type.term.name == "none" ? Intervention() : ExampleOf(type.term);
    EXPECT_GT(type.stretch(example.positions, Config()), 0) << type.term.name;
    EXPECT_GE(ContextOf(example, Config()), 100) << type.term.name;
  }
}

TEST(TermTypes, SpansAreResolved) {
  for (const EditType& type : EditTypes()) {
    const bool has_span = std::any_of(
        type.term.arguments.begin(), type.term.arguments.end(),
        [](const Parameter& argument) { return argument.kind == ParameterKind::kSpan; });
    EXPECT_EQ(type.names_span, has_span) << type.term.name;
    const Intervention example = ExampleOf(type.term);
    EXPECT_EQ(ResolvePassages(example, LongPrompt()) != example, has_span) << type.term.name;
    if (!has_span) continue;
    EXPECT_THROW(ResolvePassages(example, Prompt()), Error) << type.term.name;
    // Infini-attention's memory has no tokens.
    Intervention both = ResolvePassages(example, LongPrompt());
    both.positions = InfiniAttention{64};
    EXPECT_THROW(CompilePlans(both, BeyondContext(), 150), Error) << type.term.name;
  }
}

// The example with one argument as given; the others as the example has them.
std::string WithArgument(const Term& term, const std::string& name, const std::string& value) {
  std::string text;
  const std::vector<TextTerm> example = ParseTerms(term.small_example);
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
  for (const Term* term : ListedTerms()) {
    if (NeedsFile(*term)) continue;  // tests of their own files
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

// What help calls the default is what a term without the argument has.
TEST(TermTypes, DefaultsAreTheDescribedOnes) {
  for (const Term* term : ListedTerms()) {
    if (NeedsFile(*term)) continue;
    const auto given = ParseTerms(term->small_example).front().arguments;
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

TEST(OwnValue, ComparesTypeAndValue) {
  struct Other {
    double factor = 2;
    bool operator==(const Other&) const = default;
  };
  EXPECT_EQ(OwnValue::Of(2.0), OwnValue::Of(2.0));
  EXPECT_NE(OwnValue::Of(2.0), OwnValue::Of(3.0));
  EXPECT_NE(OwnValue::Of(2.0), OwnValue::Of(Other()));
  EXPECT_NE(OwnValue::Of(2.0), OwnValue());
  EXPECT_EQ(OwnValue(), OwnValue());
  EXPECT_EQ(OwnValue::Of(2.0).As<Other>(), nullptr);
  EXPECT_EQ(*OwnValue::Of(Other{5}).As<Other>(), Other{5});
  // A value that no listed scheme has is an error, not `none`.
  EXPECT_THROW(SchemeTypeOf(OwnValue::Of(Other())), std::logic_error);
}

}  // namespace
}  // namespace midscope
