// SPDX-License-Identifier: MIT
// Contract: everything that a user can set is described by a consistent Parameter: an option of a
// command or a probe, an argument of a term, a parameter of a task. The tests iterate over the
// lists, so that they cover parameters that are added later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/terms/terms.h"
#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"
#include "probes/cli/program/command.h"
#include "probes/measure/builtin/probe_registry.h"
#include "tests/core/support/error_message.h"

namespace midscope::cli {
namespace {

using test::ErrorMessage;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Described {
  std::string of;  // "sweep --samples", "ms-poe min"
  Parameter parameter;
};

std::vector<Described> EveryParameter() {
  std::vector<Described> all;
  const auto add = [&all](const std::string& owner, const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters)
      all.push_back({owner + " " + parameter.name, parameter});
  };
  for (const Command& command : Commands()) add(command.name, command.options);
  for (const TermType& term : TermTypes()) add(term.name, term.arguments);
  for (const TaskType& task : Tasks()) add("task " + task.name, task.parameters);
  const ProbeRegistry probes = BuiltInProbes();
  for (const ProbeType& probe : probes.types()) add("probe " + probe.name, probe.options);
  return all;
}

bool HasDefault(const Parameter& parameter) {
  return !std::holds_alternative<std::monostate>(parameter.default_value);
}

std::string Refusal(const Parameter& parameter, const std::string& text) {
  return ErrorMessage(ErrorKind::kUsage, [&] { ReadValue(parameter, text, "the thing"); });
}

TEST(EveryParameter, IsInOneOfTheLists) {
  std::set<std::string> names;
  for (const Described& each : EveryParameter()) names.insert(each.of);
  for (const char* known : {"sweep samples", "ms-poe min", "task list lines", "channels seed"})
    EXPECT_TRUE(names.contains(known)) << known;
  EXPECT_GT(names.size(), 200U);
}

TEST(EveryParameter, HasHelpAndFactsThatFitItsKind) {
  for (const auto& [of, parameter] : EveryParameter()) {
    EXPECT_FALSE(parameter.help.empty()) << of;
    const bool choice =
        parameter.kind == ParameterKind::kChoice || parameter.kind == ParameterKind::kRows;
    const bool may_have_choices = choice || IsNumber(parameter);
    EXPECT_TRUE(choice ? !parameter.choices.empty() : may_have_choices || parameter.choices.empty())
        << of;
    const bool ranged = std::isfinite(parameter.minimum) || std::isfinite(parameter.maximum);
    EXPECT_TRUE(!ranged || IsNumber(parameter) || !parameter.numbered_choice.empty()) << of;
    EXPECT_LE(parameter.minimum, parameter.maximum) << of;
    EXPECT_TRUE(!parameter.several || IsNumber(parameter)) << of;
    EXPECT_FALSE(parameter.required && HasDefault(parameter)) << of;
    if (!parameter.numbered_choice.empty()) {
      EXPECT_THAT(parameter.choices, ::testing::Contains(parameter.numbered_choice)) << of;
      EXPECT_EQ(parameter.numbered_choice.back(), 'N') << of;
    }
    for (const Parameter::OtherName& other : parameter.other_names) {
      EXPECT_THAT(parameter.choices, ::testing::Contains(other.choice)) << of;
      EXPECT_THAT(parameter.choices, ::testing::Not(::testing::Contains(other.name))) << of;
      EXPECT_EQ(ReadValue(parameter, other.name, of), ParameterValue(other.choice)) << of;
      EXPECT_THAT(FactsText(parameter), HasSubstr(other.name + " is " + other.choice)) << of;
    }
    if (!parameter.value_if_bare.empty()) {
      EXPECT_THAT(parameter.choices, ::testing::Contains(parameter.value_if_bare)) << of;
    }
  }
}

// The default is valid, and its printed form parses to the same value.
TEST(EveryParameter, HasADefaultThatItsReaderTakes) {
  for (const auto& [of, parameter] : EveryParameter()) {
    if (!HasDefault(parameter)) continue;
    EXPECT_NO_THROW(CheckValue(parameter, parameter.default_value, of));
    const std::string text = ParameterText(parameter.default_value);
    const auto* list = std::get_if<std::vector<std::string>>(&parameter.default_value);
    if (list && list->size() != 1) continue;  // the values are given as separate texts
    EXPECT_EQ(ReadValue(parameter, text, of), parameter.default_value) << of << " " << text;
    EXPECT_THAT(FactsText(parameter), HasSubstr("default: " + text)) << of;
  }
}

TEST(EveryParameter, RefusesWhatIsOutOfRangeWithTheRange) {
  size_t tried = 0;
  for (const auto& [of, parameter] : EveryParameter()) {
    if (!IsNumber(parameter)) continue;
    const auto refused = [&, &of = of, &parameter = parameter](double number) {
      const std::string message = Refusal(parameter, ParameterText(number));
      EXPECT_THAT(message, StartsWith("the thing: ")) << of;
      EXPECT_THAT(message, HasSubstr("out of range. Allowed: " + AllowedText(parameter))) << of;
      ++tried;
    };
    // Checks limits only within the range of int64_t.
    if (std::isfinite(parameter.minimum)) refused(parameter.minimum - 1);
    if (std::isfinite(parameter.maximum)) refused(std::floor(parameter.maximum) + 2);
  }
  EXPECT_GT(tried, 100U);
}

TEST(EveryParameter, RefusesOtherWordsWithThoseThatAreAllowed) {
  for (const auto& [of, parameter] : EveryParameter()) {
    if (parameter.choices.empty() && !IsNumber(parameter)) continue;
    const std::string message = Refusal(parameter, "no-such-word");
    EXPECT_THAT(message, HasSubstr("'no-such-word' is not " + KindText(parameter.kind))) << of;
    EXPECT_THAT(message, HasSubstr(AllowedText(parameter))) << of;
    for (const std::string& choice : parameter.choices) {
      EXPECT_EQ(ReadValue(parameter, choice, of), ParameterValue(choice)) << of;
      EXPECT_THAT(message, HasSubstr(choice)) << of;
    }
  }
}

TEST(EveryParameter, IsWholeWhereAFractionIsRefused) {
  for (const auto& [of, parameter] : EveryParameter()) {
    if (parameter.kind != ParameterKind::kWholeNumber) continue;
    EXPECT_THAT(Refusal(parameter, "1.5"), HasSubstr("'1.5' is not an integer")) << of;
  }
}

TEST(NumberedChoice, TakesANumberInItsRange) {
  Parameter rows;
  rows.kind = ParameterKind::kRows;
  rows.choices = {"all", "last:N"};
  rows.numbered_choice = "last:N";
  rows.minimum = 1;
  rows.maximum = 64;
  EXPECT_EQ(ReadValue(rows, "last:16", "rows"), ParameterValue("last:16"));
  EXPECT_THAT(Refusal(rows, "last:0"), HasSubstr("Allowed: 1 to 64"));
  EXPECT_THAT(Refusal(rows, "last:x"), HasSubstr("'x' is not an integer"));
  EXPECT_THAT(Refusal(rows, "lsat:3"), HasSubstr("(allowed: all | last:N)"));
}

TEST(NumberWithWords, TakesBoth) {
  Parameter factor;
  factor.kind = ParameterKind::kNumber;
  factor.choices = {"auto"};
  factor.minimum = 0;
  factor.maximum = 2;
  EXPECT_EQ(ReadValue(factor, "auto", "factor"), ParameterValue("auto"));
  EXPECT_EQ(ReadValue(factor, "1.5", "factor"), ParameterValue(1.5));
  EXPECT_THAT(Refusal(factor, "3"), HasSubstr("Allowed: auto | 0 to 2"));
  EXPECT_THAT(Refusal(factor, "auot"), HasSubstr("Did you mean 'auto'?"));
  OptionSet options({factor});
  options.FromJson(R"({"": "auto"})");
  EXPECT_EQ(options.Value(""), ParameterValue("auto"));
}

}  // namespace
}  // namespace midscope::cli
