// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "core/terms/presets.h"
#include "probes/cli/console/progress_line.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/help.h"

namespace midscope::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(TextTable, AlignsNumbersRightAndTextLeft) {
  TextTable table({"name", "nll"});
  table.Add({"none", "2.10"});
  table.Add({"é", "12.5"});
  EXPECT_EQ(table.Text(),
            "name   nll\n"
            "none  2.10\n"
            "é     12.5\n");
}

// Text is wrapped at spaces, and longer words anywhere; numbers are not split, and headings wrap
// above them.
TEST(TextTable, FitsATerminal) {
  TextTable table({"setting", "answer_nll of all", "p"});
  table.Add({"ms-poe(min=1.2, max=1.8)", "7.27 [6.90, 7.64]", "0.5"});
  table.Add({"pré(abcdefghijklmnop)", "7.27 [6.90, 7.64]", "0.5"});
  EXPECT_EQ(table.Text(40),
            "setting           answer_nll of all    p\n"
            "ms-poe(min=1.2,   7.27 [6.90, 7.64]  0.5\n"
            "max=1.8)\n"
            "pré(abcdefghijkl  7.27 [6.90, 7.64]  0.5\n"
            "mnop)\n");
  EXPECT_EQ(table.Text(60), table.Text(std::nullopt));
  TextTable numbers({"number of samples", "p"});
  numbers.Add({"12", "0.5"});
  EXPECT_EQ(numbers.Text(14), "number of    p\n  samples\n       12  0.5\n");
  EXPECT_EQ(numbers.Text(1), " number   p\n     of\nsamples\n     12 0.5\n");
}

// In a narrow terminal, intervals are printed below their means, and heads are cut after '_'.
TEST(TextTable, WrapsIntervalsWhereTheyDoNotFit) {
  TextTable table({"setting", "answer_nll [95 %]", "difference [95 %]"});
  table.Add({"none", "7.27 [6.90, 7.64]", ""});
  table.Add({"a", "7.27 [6.90, 7.64]", "-0.25 [-0.50, 0.00]"});
  EXPECT_EQ(table.Text(44),
            "setting        answer_nll  difference [95 %]\n"
            "                   [95 %]\n"
            "none                 7.27\n"
            "             [6.90, 7.64]\n"
            "a                    7.27              -0.25\n"
            "             [6.90, 7.64]      [-0.50, 0.00]\n");
}

TEST(TextTable, BreaksIntoBlocksOfColumns) {
  TextTable table({"place", "first", "second", "third"});
  table.Add({"1", "1000", "2000", "3000"});
  table.Add({"20", "1001", "2001", "3001"});
  EXPECT_EQ(table.Text(18),
            "place first second\n"
            "    1  1000   2000\n"
            "   20  1001   2001\n"
            "\n"
            "place  third\n"
            "    1   3000\n"
            "   20   3001\n");
}

TEST(TerminalWidth, IsThatOfColumnsForAPipe) {
  ASSERT_EQ(::setenv("COLUMNS", "77", 1), 0);
  EXPECT_EQ(TerminalWidth(), 77u);
  for (const char* text : {"", "0", "-5", "wide"}) {
    ::setenv("COLUMNS", text, 1);
    EXPECT_EQ(TerminalWidth(), kPipeWidth) << text;
  }
  ::unsetenv("COLUMNS");
  EXPECT_EQ(TerminalWidth(), kPipeWidth);
}

TEST(FittedLines, WrapCaptionsAndKeepPaths) {
  ::setenv("COLUMNS", "20", 1);
  EXPECT_EQ(FittedLines("a: one two three four\n\nb\n"), "a: one two three\n  four\n\nb\n");
  const std::string path = "file: /a/very/long/path/run.h5\n";
  EXPECT_EQ(FittedLines(path), path);
  ::unsetenv("COLUMNS");
}

TEST(Help, FitsANarrowTerminal) {
  const std::string text =
      "Runs one prompt once and stores what the probes read: last-query attention, and more\n"
      "of it.\n\nCommands:\n  fetch      a model from elsewhere\n"
      "                          that is no longer than the terminal is\n\nExamples:\n"
      "  midscope probe embedded --task list:lines=20 --place 10 --channels 100,215 --out x.h5\n";
  EXPECT_EQ(Fitted(text, 100), text);
  EXPECT_EQ(Fitted(text, 70),
            "Runs one prompt once and stores what the probes read: last-query\n"
            "attention, and more of it.\n\nCommands:\n  fetch      a model from elsewhere\n"
            "                          that is no longer than the terminal is\n\nExamples:\n"
            "  midscope probe embedded --task list:lines=20 --place 10 --channels 100,215 --out "
            "x.h5\n");
}

TEST(ProgressText, HasRateAndTimeLeft) {
  EXPECT_EQ(ProgressText({"sweep", 10, 40, "samples"}, 0, 20),
            "sweep 10/40 samples, 2 s per sample, 60 s left");
}

TEST(ProgressText, TellsBytesInTheirUnits) {
  EXPECT_EQ(ProgressText({"fetch", 30'000'000, 1'530'000'000, "bytes"}, 10'000'000, 10),
            "fetch 30.0 MB of 1.5 GB, 2.0 MB/s, 12 min 30 s left");
}

TEST(ProgressText, DoesNotCountWhatAnEarlierProcessDid) {
  EXPECT_EQ(ProgressText({"sweep", 30, 40, "samples"}, 20, 10),
            "sweep 30/40 samples, 1 sample/s, 10 s left");
  EXPECT_EQ(ProgressText({"sweep", 20, 40, "samples"}, 20, 10), "sweep 20/40 samples");
}

// In a log, no line is redrawn, and long work gets its own lines.
TEST(ProgressLine, ProgramsGetALineOfJsonForEachStep) {
  EXPECT_EQ(ProgressJson({"sweep", 12, 40, "samples"}),
            R"({"stage":"sweep","done":12,"total":40,"unit":"samples"})");
  ::testing::internal::CaptureStderr();
  {
    ProgressLine line(ProgressForm::kJson);
    line.Draw({"load", 0, 2, "tensors"});
    line.Draw({"load", 1, 2, "tensors"});  // less than a tenth of a second later
    line.Draw({"load", 2, 2, "tensors"});
    line.Draw({"sweep", 0, 4, "samples"});
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "{\"stage\":\"load\",\"done\":0,\"total\":2,\"unit\":\"tensors\"}\n"
            "{\"stage\":\"load\",\"done\":2,\"total\":2,\"unit\":\"tensors\"}\n"
            "{\"stage\":\"sweep\",\"done\":0,\"total\":4,\"unit\":\"samples\"}\n");
}

TEST(ProgressLine, WithoutATerminalLongWorkGetsLines) {
  using std::chrono::milliseconds;
  const auto drawn = [](ProgressPace pace) {
    ::testing::internal::CaptureStderr();
    ProgressLine line(ProgressForm::kLog, pace);
    for (int64_t done = 0; done < 3; ++done) {
      line.Draw({"hidden states", done, 24, "prompts"});
      line.Clear();
    }
    return ::testing::internal::GetCapturedStderr();
  };
  const std::string lines = drawn({milliseconds(0), milliseconds(0)});
  EXPECT_THAT(lines, HasSubstr("midscope: hidden states 0/24 prompts\n"));
  EXPECT_THAT(lines, HasSubstr("midscope: hidden states 2/24 prompts, "));
  EXPECT_EQ(lines.find_first_of("\r\033"), std::string::npos);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  const std::string spaced = drawn({milliseconds(0), milliseconds(3'600'000)});
  EXPECT_EQ(std::count(spaced.begin(), spaced.end(), '\n'), 1);
  EXPECT_EQ(drawn({milliseconds(3'600'000), milliseconds(0)}), "");
}

TEST(Help, ChannelsSaysWhatIsThePapersAndWhatIsOurs) {
  const std::string line = std::regex_replace(Help({"channels"}), std::regex("\\s+"), " ");
  EXPECT_THAT(line, HasSubstr("smoothness by second differences"));
  EXPECT_THAT(line, HasSubstr("smoothing by Savitzky-Golay over 11 positions from position 200 on "
                              "is our reading of the code"));
}

// In arXiv 2406.02536, hidden states by position are in Figures 3 and 12; Figure 2 shows something
// else.
TEST(Help, HiddenChannelsCiteTheirFigure) {
  const std::string probes = std::regex_replace(Help({"probes"}), std::regex("\\s+"), " ");
  EXPECT_THAT(probes, HasSubstr("Fig. 3"));
}

TEST(Help, InterventionsListsEveryTermWithItsArguments) {
  const std::string help = InterventionHelp();
  for (const char* text : {"ms-poe", "first_layer", "pi", "channel", "rows"}) {
    EXPECT_THAT(help, HasSubstr(text));
  }
  // Allowed values are printed as for options, without rounding; lines may be broken anywhere.
  const std::string line = std::regex_replace(help, std::regex("\\s+"), " ");
  for (const char* text :
       {"(rank | code | group; default: rank)",
        "(model | 1 to 16777216; in tokens; default: model)", "(0 to 1048576; default: 2)",
        "(answer | last | last:N | all; default: answer)"}) {
    EXPECT_THAT(line, HasSubstr(text));
  }
  for (const char* text : {"yarn", "beta_fast", "self-extend", "ratios", "preset", "arXiv"}) {
    EXPECT_THAT(help, HasSubstr(text));
  }
  EXPECT_THAT(Help({"tasks"}), HasSubstr("list:lines=20"));
  EXPECT_THAT(Help({}), HasSubstr("midscope help interventions"));
}

TEST(Help, LinesAreNoWiderThanATerminal) {
  for (const char* topic : {"interventions", "tasks", "probes"}) {
    std::istringstream lines(Help({topic}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100U) << topic << ": " << line;
    }
  }
}

TEST(SettingLetters, StandForWideSettingsOnly) {
  const SettingLetters narrow({"none", "pi(1.5)"});
  EXPECT_EQ(narrow.Name(1), "pi(1.5)");
  EXPECT_EQ(narrow.Legend(), "");
  const std::string wide = "channel([100,215], factor=[-1,0], layers=[2-8,12])";
  const SettingLetters letters({"none", wide});
  EXPECT_EQ(letters.Name(0), "a");
  EXPECT_EQ(letters.Name(1), "b");
  EXPECT_EQ(letters.Legend(), "a  none\nb  " + wide + "\n");
  const std::vector<std::string> between = {"none", "ms-poe(min=1.2, max=1.8)x"};
  EXPECT_EQ(SettingLetters(between, 120).Legend(), "");
  EXPECT_NE(SettingLetters(between, 80).Legend(), "");
}

TEST(Help, PresetsStandWithModelsSourceAndWarnings) {
  const std::string help = Help({"presets"});
  for (const Preset& preset : InterventionPresets()) {
    std::string told = "  " + preset.name;
    told += "\n    " + preset.text + "\n    " + preset.models + "; " + preset.source + "\n";
    if (!preset.bos.empty()) told += "    " + preset.bos + "\n";
    if (!preset.warning.empty()) told += "    " + preset.warning + "\n";
    EXPECT_THAT(help, HasSubstr(told));
  }
  // One of the two channels must be wrong, so both have the warning.
  for (const char* text : {"channel(4283,", "channel(4923,"}) {
    for (const Preset& preset : InterventionPresets()) {
      if (preset.text.find(text) == std::string::npos) continue;
      EXPECT_THAT(preset.warning,
                  AllOf(HasSubstr("4283"), HasSubstr("4923"), HasSubstr("digit transposition")));
    }
  }
}

}  // namespace
}  // namespace midscope::cli
