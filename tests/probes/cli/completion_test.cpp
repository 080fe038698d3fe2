// SPDX-License-Identifier: MIT
// Contract: the completions of every shell and the manual page contain every command, option and
// choice, because they are made from the descriptions; the scripts are run if their shell is
// installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "probes/cli/program/command.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope::cli {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string OutputOf(const Command& command, const std::string& shell = "") {
  OptionSet options(command.options);
  if (!shell.empty()) options.SetText("shell", shell);
  std::ostringstream out;
  const JobContext job;
  const std::string command_line;
  std::unique_ptr<RankGroup> ranks;
  command.run({options, job, command_line, out, ranks});
  return out.str();
}

struct ShellRun {
  int status = -1;
  std::vector<std::string> lines;  // standard output and standard error
};

ShellRun RunShell(const std::string& command) {
  ShellRun run;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return run;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe)) {
    run.lines.emplace_back(line.data());
    if (run.lines.back().ends_with('\n')) run.lines.back().pop_back();
  }
  run.status = ::pclose(pipe);
  return run;
}

bool IsInstalled(const std::string& program) {
  return RunShell("command -v " + program).status == 0;
}

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Whether a shell's script names an option, in the syntax of that shell.
bool Names(const std::string& script, const std::string& shell, const std::string& option) {
  if (shell == "fish") return script.find(" -l " + option + " ") != std::string::npos;
  const std::string flag = "--" + option;
  for (size_t at = script.find(flag); at != std::string::npos; at = script.find(flag, at + 1)) {
    if (std::string(" '=[").find(script[at + flag.size()]) != std::string::npos) return true;
  }
  return false;
}

TEST(Completion, HoldsEveryCommandOptionAndChoice) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = OutputOf(CompletionCommand(), shell);
    for (const Command& command : Commands()) {
      EXPECT_THAT(script, HasSubstr(command.name)) << shell;
      for (const Parameter& option : command.options) {
        const auto& positionals = command.positionals;
        const bool positional =
            std::find(positionals.begin(), positionals.end(), option.name) != positionals.end();
        EXPECT_TRUE(positional || Names(script, shell, option.name))
            << shell << " " << command.name << " --" << option.name;
        for (const std::string& choice : option.choices) EXPECT_THAT(script, HasSubstr(choice));
      }
    }
    for (const Parameter& option : CommonOptions()) EXPECT_TRUE(Names(script, shell, option.name));
  }
}

// The completions that bash offers for the last word.
class BashCompletion : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!IsInstalled("bash")) GTEST_SKIP() << "bash is not installed";
    Write((folder_.path() / "script").string(), OutputOf(CompletionCommand(), "bash"));
    Write((folder_.path() / "a_model.gguf").string(), "");
  }
  std::vector<std::string> Offered(const std::string& words) {
    Write((folder_.path() / "try").string(),
          "cd " + folder_.path().string() + "\n. ./script\nCOMP_WORDS=(" + words +
              ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_midscope\n"
              "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return RunShell("bash " + (folder_.path() / "try").string()).lines;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(BashCompletion, OffersCommandsOptionsChoicesAndFiles) {
  EXPECT_THAT(Offered("midscope swe"), ElementsAre("sweep"));
  EXPECT_THAT(Offered("midscope --quiet swe"), ElementsAre("sweep"));
  EXPECT_THAT(Offered("midscope sweep --dty"), ElementsAre("--dtype"));
  EXPECT_THAT(Offered("midscope sweep --dtype f"),
              ElementsAre("float32", "float16", "fp32", "fp16"));
  EXPECT_THAT(Offered("midscope sweep --dtype = bfl"), ElementsAre("bfloat16"));
  EXPECT_THAT(Offered("midscope sweep embedded --qui"), ElementsAre("--quiet"));
  EXPECT_THAT(Offered("midscope info a_mo"), ElementsAre("a_model.gguf"));
  EXPECT_THAT(Offered("midscope sweep embedded --out a_mo"), ElementsAre("a_model.gguf"));
  EXPECT_THAT(Offered("midscope completion z"), ElementsAre("zsh"));
  EXPECT_THAT(Offered("midscope help inter"), ElementsAre("interventions"));
  EXPECT_THAT(Offered("midscope sweep --samples a_mo"), ElementsAre(""));  // the value is a number
}

TEST(Completion, IsReadByItsShell) {
  const TemporaryFolder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (!IsInstalled(shell)) continue;
    Write((folder.path() / shell).string(), OutputOf(CompletionCommand(), shell));
    const ShellRun run = RunShell(shell + " -n " + (folder.path() / shell).string());
    EXPECT_EQ(run.status, 0) << shell;
    EXPECT_THAT(run.lines, ElementsAre()) << shell;
  }
}

// A name and an option in roff syntax: "compare\-models", "\-\-out".
std::string RoffName(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '-' ? std::string("\\-") : std::string(1, c);
  return text;
}
std::string RoffFlag(const std::string& name) { return "\\fB\\-\\-" + RoffName(name) + "\\fR"; }

TEST(ManPage, HoldsEveryCommandAndOption) {
  const std::string page = OutputOf(ManCommand());
  EXPECT_EQ(page.rfind(".TH MIDSCOPE 1 ", 0), 0u);
  for (const Command& command : Commands()) {
    const size_t section = page.find("\n.SS " + RoffName(command.name) + "\n");
    ASSERT_NE(section, std::string::npos) << command.name;
    const std::string text = page.substr(section, page.find("\n.SS ", section + 1) - section);
    for (const Parameter& option : command.options) {
      const auto& positionals = command.positionals;
      const bool positional =
          std::find(positionals.begin(), positionals.end(), option.name) != positionals.end();
      EXPECT_TRUE(positional || text.find(RoffFlag(option.name)) != std::string::npos)
          << command.name << " --" << option.name;
    }
  }
  EXPECT_THAT(page, HasSubstr("\\fITask\\fR\n"));  // a group of options of sweep
}

TEST(ManPage, IsReadByGroffWithoutAWarning) {
  if (!IsInstalled("groff")) GTEST_SKIP() << "groff is not installed";
  const TemporaryFolder folder;
  Write((folder.path() / "midscope.1").string(), OutputOf(ManCommand()));
  const ShellRun warnings =
      RunShell("groff -man -ww -Tutf8 " + (folder.path() / "midscope.1").string() +
               " 3>&1 1>/dev/null 2>&3");
  EXPECT_EQ(warnings.status, 0);
  EXPECT_THAT(warnings.lines, ElementsAre());
}

}  // namespace
}  // namespace midscope::cli
