// SPDX-License-Identifier: MIT
#include "probes/cli/program/option_binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace midscope::cli {
namespace {

using ::testing::HasSubstr;

Command TestCommand() {
  Command command;
  command.name = "try";
  command.description = "Tries.";
  command.positionals = {"model"};
  Parameter model = OutOption("a model");
  model.name = "model";
  model.required = true;
  Parameter factor;
  factor.name = "factor";
  factor.kind = ParameterKind::kNumber;
  factor.help = "a factor";
  factor.unit = "nats";
  factor.minimum = -2;
  factor.maximum = 2;
  factor.default_value = 0.5;
  command.options = {model, factor, WithOption("settings"), FlagParameter("json", "as JSON"),
                     TextParameter("prompt", "text")};
  command.examples = "  midscope try m.gguf";
  return command;
}

OptionSet Parse(const std::vector<std::string>& arguments) {
  const Command command = TestCommand();
  OptionSet options(command.options);
  OptionSet common(CommonOptions());
  EXPECT_FALSE(ParseArguments(command, arguments, options, common).has_value());
  return options;
}

std::string FailureOf(const std::vector<std::string>& arguments) {
  try {
    Parse(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(OptionBinder, ReadsEveryType) {
  const OptionSet options = Parse({"m.gguf", "--factor", "-1.5", "--with", "none", "--with",
                                   "channel(100, factor=-1)", "--json", "--prompt=two words"});
  EXPECT_EQ(options.Text("model"), "m.gguf");
  EXPECT_EQ(options.Number("factor"), -1.5);
  EXPECT_EQ(options.TextList("with"),
            (std::vector<std::string>{"none", "channel(100, factor=-1)"}));
  EXPECT_TRUE(options.Flag("json"));
  EXPECT_EQ(options.Text("prompt"), "two words");
}

TEST(OptionBinder, LeavesDefaults) {
  const OptionSet options = Parse({"m.gguf"});
  EXPECT_EQ(options.Number("factor"), 0.5);
  EXPECT_FALSE(options.Flag("json"));
  EXPECT_FALSE(options.IsSet("prompt"));
}

TEST(OptionBinder, TakesTextAsItIs) {
  for (const std::string text :
       {"[a, b]", "-5", "{}", "%%", "a\nb", " spaces ", "\"quoted\"", "--", "a,b;c", "naïve ½"}) {
    EXPECT_EQ(Parse({"m.gguf", "--prompt", text}).Text("prompt"), text);
    EXPECT_EQ(Parse({"m.gguf", "--with", text}).TextList("with"), std::vector<std::string>{text});
  }
}

TEST(OptionBinder, NamesTheNearestOption) {
  EXPECT_THAT(FailureOf({"m.gguf", "--wiht", "none"}), HasSubstr("--wiht"));
  EXPECT_THAT(FailureOf({"m.gguf", "--wiht", "none"}), HasSubstr("Did you mean --with?"));
  EXPECT_THAT(FailureOf({"m.gguf", "--facter=1"}), HasSubstr("Did you mean --factor?"));
}

TEST(OptionBinder, RefusesWhatTheDescriptionRefuses) {
  EXPECT_THAT(FailureOf({"m.gguf", "--factor", "3"}), HasSubstr("-2 to 2"));
  EXPECT_THAT(FailureOf({"m.gguf", "--factor", "three"}), HasSubstr("three"));
  EXPECT_THAT(FailureOf({"m.gguf", "--factor", "1", "--factor", "2"}), HasSubstr("2 times"));
  EXPECT_THAT(FailureOf({"m.gguf", "more"}), HasSubstr("'more'"));
  EXPECT_THAT(FailureOf({"--json"}), HasSubstr("MODEL"));
  EXPECT_THAT(FailureOf({"m.gguf", "--factor"}), HasSubstr("factor"));
}

TEST(OptionBinder, HelpHoldsEveryOptionAndTheExamples) {
  const Command command = TestCommand();
  OptionSet options(command.options);
  OptionSet common(CommonOptions());
  const auto help = ParseArguments(command, {"--help"}, options, common);
  ASSERT_TRUE(help.has_value());
  EXPECT_EQ(*help, HelpText(command));
  for (const Parameter& option : command.options) {
    EXPECT_THAT(*help, HasSubstr(option.name == "model" ? "MODEL" : "--" + option.name));
    EXPECT_THAT(*help, HasSubstr(option.help));
  }
  EXPECT_THAT(*help, HasSubstr("-2 to 2; in nats; default: 0.5"));
  EXPECT_THAT(*help, HasSubstr("midscope try m.gguf"));
}

// Groups are in the order of the options, each with its options; -h and --quiet come first.
TEST(OptionBinder, HelpListsOptionsUnderTheirGroups) {
  Command command = TestCommand();
  for (Parameter& option : command.options) {
    if (option.name == "with") option.group = "Settings";
    if (option.name == "json") option.group = "Output";
  }
  const std::string help = HelpText(command);
  const auto at = [&](const std::string& text) { return help.find("\n" + text); };
  EXPECT_LT(at("Options:\n"), at("  --quiet"));
  EXPECT_LT(at("  --quiet"), at("Settings:\n"));
  EXPECT_LT(at("Settings:\n"), at("  --with"));
  EXPECT_LT(at("  --with"), at("Output:\n"));
  EXPECT_LT(at("Output:\n"), at("  --json"));
  EXPECT_NE(at("  --json"), std::string::npos);
  EXPECT_EQ(help.find("\n\n\n"), std::string::npos);
}

// Only the help of sweep has groups: each of its many options is in one.
TEST(Commands, HelpOfASweepIsInGroups) {
  const Command& sweep = FindCommand("sweep");
  for (const Parameter& option : sweep.options) EXPECT_NE(option.group, "") << option.name;
  const std::string help = HelpText(sweep);
  for (const char* group : {"Model", "Task", "Settings", "Scores", "Output", "Run"})
    EXPECT_THAT(help, HasSubstr("\n" + std::string(group) + ":\n  --")) << group;
}

TEST(OptionBinder, TakesOptionsOfAllCommandsApart) {
  const Command command = TestCommand();
  OptionSet options(command.options);
  OptionSet common(CommonOptions());
  ASSERT_FALSE(ParseArguments(command, {"m.gguf", "--quiet"}, options, common).has_value());
  EXPECT_TRUE(common.Flag("quiet"));
  EXPECT_EQ(options.ToJson().find("quiet"), std::string::npos);
  EXPECT_THAT(FailureOf({"m.gguf", "--quite"}), HasSubstr("Did you mean --quiet?"));
}

TEST(Commands, DescribeTheirOptionsOnceAndHaveExamples) {
  for (const Command& command : Commands()) {
    const OptionSet options(command.options);  // the constructor throws if a name occurs twice
    EXPECT_THAT(command.examples, HasSubstr("midscope " + command.name));
    for (const std::string& name : command.positionals) options.Describe(name);
    for (const Parameter& option : command.options) EXPECT_FALSE(option.help.empty());
  }
}

TEST(Commands, NearestNameIsNamed) {
  try {
    FindCommand("swep");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'sweep'"));
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace midscope::cli
