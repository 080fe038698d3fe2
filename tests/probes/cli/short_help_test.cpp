// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "probes/cli/program/command.h"
#include "probes/cli/program/option_binder.h"

namespace midscope::cli {
namespace {

using ::testing::HasSubstr;

TEST(ShortHelp, FitsATerminalForEveryCommand) {
  for (const Command& command : Commands()) {
    const std::string help = ShortHelpText(command);
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 24) << help;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    EXPECT_THAT(help, HasSubstr("Usage: midscope " + command.name));
    EXPECT_THAT(help, HasSubstr("midscope " + command.name + " --help"));
    const auto brief = std::count_if(command.options.begin(), command.options.end(),
                                     [](const Parameter& option) { return option.brief; });
    EXPECT_LE(brief, 14) << command.name;
    EXPECT_EQ(brief == 0, command.options.empty()) << command.name;
    for (const Parameter& option : command.options) {
      const bool positional = IsPositional(command, option.name);
      EXPECT_TRUE(option.brief || !(option.required || positional)) << option.name;
      if (!option.brief) continue;
      EXPECT_THAT(help,
                  HasSubstr("\n  " + (positional ? UpperCase(option.name) : "--" + option.name)));
    }
  }
}

TEST(ShortHelp, IsPrintedByTheShortFlagAlone) {
  const Command& command = FindCommand("sweep");
  OptionSet options(command.options);
  OptionSet common(CommonOptions());
  EXPECT_EQ(ParseArguments(command, {"-h"}, options, common), ShortHelpText(command));
  EXPECT_EQ(ParseArguments(command, {"--help"}, options, common), HelpText(command));
  EXPECT_THAT(ShortHelpText(command),
              HasSubstr("\n  --json                  print the results as JSON\n"));
}

}  // namespace
}  // namespace midscope::cli
