// SPDX-License-Identifier: MIT
// Every command shown on a documentation page is parsed as the shell and the program parse it.
// Nothing is run.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "probes/cli/program/command.h"
#include "probes/cli/program/option_binder.h"
#include "tests/paths.h"

namespace midscope::cli {
namespace {

constexpr const char* kWrapper = "midscope() { printf '%s\\n' \"$@\" END; }\n";

// The indented lines of the page that are commands or arrays of their options, without "$ ", "./"
// and arguments of mpirun.
std::string Script(const std::filesystem::path& page) {
  std::ifstream lines(page);
  std::string script;
  bool goes_on = false;
  bool in_array = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    $ ")) line.erase(4, 2);
    const size_t program = line.find("midscope ");
    const std::string before = line.substr(0, program);
    const bool command =
        line.starts_with("    ") && program != std::string::npos &&
        (before == "    " || before == "    ./" || before.starts_with("    mpirun "));
    if (command) line.erase(0, program);
    in_array = in_array || line.find("=(") == 5;
    if (command || goes_on || in_array) script += line + "\n";
    goes_on = (command || goes_on) && line.ends_with('\\');
    if (line.ends_with(')')) in_array = false;
  }
  return script;
}

std::vector<std::vector<std::string>> CommandsIn(const std::string& script) {
  const std::string shell = ShellCommand("bash", {"-c", kWrapper + script}) + " 2>&1";
  FILE* output = popen(shell.c_str(), "r");
  std::vector<std::vector<std::string>> commands(1);
  std::string word;
  for (int c = 0; (c = std::fgetc(output)) != EOF;) {
    if (c != '\n') {
      word += static_cast<char>(c);
      continue;
    }
    if (word == "END") {
      commands.emplace_back();
    } else {
      commands.back().push_back(word);
    }
    word.clear();
  }
  EXPECT_EQ(pclose(output), 0) << script;
  EXPECT_TRUE(commands.back().empty()) << commands.back().front();  // a syntax error of the shell
  commands.pop_back();
  return commands;
}

TEST(DocumentedCommands, AreUnderstood) {
  const std::filesystem::path root = std::filesystem::path(MIDSCOPE_TESTS).parent_path();
  // Words of the launcher, and help, which takes topics.
  const std::set<std::string> others = {"test",  "gui",     "build", "bench",
                                        "setup", "package", "help"};
  std::map<std::string, int> seen;
  for (const char* room : {"", "core", "data", "probes", "gui", ".packaging/site/tasks"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root / room)) {
      if (entry.path().extension() != ".md" || entry.path().filename() == "CHANGELOG.md") continue;
      for (const auto& words : CommandsIn(Script(entry.path()))) {
        ASSERT_FALSE(words.empty());
        if (others.contains(words.front())) continue;
        const std::string shown = entry.path().filename().string() + ": " + words.front();
        try {
          const Command command = FindCommand(words.front());
          OptionSet options(command.options);
          OptionSet common(CommonOptions());
          ParseArguments(command, {words.begin() + 1, words.end()}, options, common);
          ++seen[words.front()];
        } catch (const Error& error) {
          ADD_FAILURE() << shown << ": " << error.what();
        }
      }
    }
  }
  EXPECT_GE(seen["sweep"], 20);
  EXPECT_GE(seen["probe"], 3);
}

}  // namespace
}  // namespace midscope::cli
