// SPDX-License-Identifier: MIT
// The input line of `midscope whatif`: at a terminal, the newest line supersedes others and errors
// do not end the program; a script is run line by line and ends with the first error.
#include "probes/cli/commands/what_if_prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/base/error.h"
#include "tests/probes/support/fake_what_if_engine.h"

namespace midscope::cli {
namespace {

using midscope::testing::FakeWhatIfEngine;
using midscope::testing::WhatIfGate;
using ::testing::HasSubstr;
using ::testing::Not;

class WhatIfPromptTest : public ::testing::Test {
 protected:
  WhatIfPromptTest() {
    EXPECT_EQ(::pipe(pipe_), 0);
    options.layers = 6;
    job.log = [this](const std::string& message) {
      log += message + "\n";
      ++logged;
    };
  }
  ~WhatIfPromptTest() override {
    End();
    ::close(pipe_[0]);
  }

  void Type(const std::string& text) {
    ASSERT_EQ(::write(pipe_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void End() {
    if (pipe_[1] >= 0) ::close(pipe_[1]);
    pipe_[1] = -1;
  }
  void Run() {
    WhatIfPrompt(std::make_unique<FakeWhatIfEngine>(gate), options, pipe_[0], out, interrupted, job)
        .Run();
  }
  void RunLines(const std::string& lines) {
    Type(lines);
    End();
    Run();
  }
  void WaitForLogged(int count) const {
    for (int i = 0; i < 5000 && logged < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_GE(logged, count);
  }
  std::vector<nlohmann::json> Objects() const {
    std::vector<nlohmann::json> objects;
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);)
      objects.push_back(nlohmann::json::parse(line));
    return objects;
  }

  WhatIfPromptOptions options;
  std::shared_ptr<WhatIfGate> gate = std::make_shared<WhatIfGate>();
  std::ostringstream out;
  std::string log;
  std::atomic<int> logged{0};
  std::atomic<bool> interrupted{false};
  JobContext job;

 private:
  int pipe_[2] = {-1, -1};
};

TEST_F(WhatIfPromptTest, AScriptGivesAnOutcomeALine) {
  options.json = true;
  RunLines("# a comment\n\nchannel(1, factor=0.5)\nnone\r\nchannel(1, factor=2)");
  const auto objects = Objects();
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[0]["setting"], "channel(1, factor=0.5)");
  EXPECT_THAT(objects[0]["setting_canonical"], HasSubstr("rows=answer"));
  EXPECT_EQ(objects[0]["answer_nll"], 0.5);
  EXPECT_EQ(objects[0]["answer_nll_change"], -0.5);
  EXPECT_EQ(objects[0]["top"][0]["text"], " a");
  EXPECT_EQ(objects[0]["rerun"]["first_layer"], 3);
  EXPECT_EQ(objects[1]["answer_nll_change"], 0);
  EXPECT_EQ(objects[2]["answer_nll"], 2);
}

// Including help, because programs parse each line as JSON.
TEST_F(WhatIfPromptTest, EveryLineForAProgramIsJson) {
  options.json = true;
  options.keep_going = true;
  RunLines("help\npi(2)\nundo\nundo\ncompare\nhelp terms\n");
  const auto objects = Objects();
  ASSERT_EQ(objects.size(), 6u);
  EXPECT_THAT(objects[0]["help"].get<std::string>(), HasSubstr("out FILE"));
  EXPECT_EQ(objects[2]["setting_canonical"], "none");
  EXPECT_THAT(objects[5]["help"].get<std::string>(), HasSubstr("ms-poe"));
}

TEST_F(WhatIfPromptTest, TheFirstLineThatFailsEndsAScript) {
  try {
    RunLines("pi(1.5)\nchanel(1, factor=0.5)\npi(2)\n");
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFailure);
    EXPECT_THAT(error.what(), HasSubstr("line 2"));
    EXPECT_THAT(error.what(), HasSubstr("column 1"));
  }
  EXPECT_THAT(out.str(), HasSubstr("pi(1.5)"));
  EXPECT_THAT(out.str(), Not(HasSubstr("pi(2)")));
}

// Self-Extend and similar schemes can run prompts that exceed the model's own positions.
TEST_F(WhatIfPromptTest, APromptThatNoneDoesNotHoldGoesOnWithTheLines) {
  gate->refuses_none = true;
  options.json = true;
  RunLines("self-extend(group=4, window=16)\n");
  const auto objects = Objects();
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0]["answer_nll"], 1);
  EXPECT_TRUE(objects[0]["answer_nll_change"].is_null());
  EXPECT_THAT(log, HasSubstr("too long"));
}

TEST_F(WhatIfPromptTest, NothingButARefusedNoneIsAFailure) {
  gate->refuses_none = true;
  EXPECT_THROW(RunLines("# nothing\n"), Error);
}

TEST_F(WhatIfPromptTest, KeepGoingTellsEveryFailure) {
  options.json = true;
  options.keep_going = true;
  RunLines("pi(\ncrop(span=1:2)\npi(2)\nundo\nundo\n");
  const auto objects = Objects();
  ASSERT_EQ(objects.size(), 5u);
  EXPECT_EQ(objects[0]["line"], 1);
  EXPECT_THAT(objects[0]["error"], HasSubstr("column"));
  EXPECT_EQ(objects[1]["error"], "crop: the fake cannot");
  EXPECT_EQ(objects[2]["setting"], "pi(2)");
  // After a failed setting, the previous one is not restored.
  EXPECT_EQ(objects[3]["setting_canonical"], "none");
  EXPECT_THAT(objects[4]["error"], HasSubstr("undo"));
  EXPECT_THAT(log, HasSubstr("line 2: crop: the fake cannot"));
}

TEST_F(WhatIfPromptTest, UndoAndCompareKnowWhatWasTried) {
  RunLines("channel(1, factor=0.5)\nchannel(1, factor=4)\nundo\ncompare\nhelp\nquit\npi(3)\n");
  const std::string text = out.str();
  EXPECT_THAT(text, HasSubstr("answer: 4.0000 nats (+3.0000 against none)"));
  const std::string table = text.substr(text.find("change"));
  EXPECT_THAT(table, HasSubstr("none"));
  EXPECT_THAT(table, HasSubstr("+3.0000"));
  EXPECT_THAT(table, HasSubstr("-0.5000"));
  EXPECT_THAT(text, HasSubstr("out FILE"));
  EXPECT_THAT(text, Not(HasSubstr("pi(3)")));
  const std::lock_guard lock(gate->mutex);
  ASSERT_EQ(gate->begun.size(), 4u);
  EXPECT_EQ(gate->begun[3], gate->begun[1]);
}

TEST_F(WhatIfPromptTest, AtATerminalTheNewestLineWins) {
  options.terminal = true;
  options.json = true;
  gate->Set(true);
  std::thread prompt([this] { Run(); });
  EXPECT_TRUE(gate->WaitForBegun(1));  // the setting none
  Type("channel(1, factor=0.5)\n");
  EXPECT_TRUE(gate->WaitForBegun(2));
  Type("channel(1, factor=0.25)\n");
  EXPECT_TRUE(gate->WaitForBegun(3));
  gate->Set(false);
  End();
  prompt.join();
  const auto objects = Objects();
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0]["setting"], "channel(1, factor=0.25)");
}

TEST_F(WhatIfPromptTest, CtrlCStopsTheRunAndThePromptGoesOn) {
  options.terminal = true;
  options.json = true;
  std::thread prompt([this] { Run(); });
  EXPECT_TRUE(gate->WaitForBegun(1));
  Type("crop(span=1:2)\n");  // fails without ending the program
  EXPECT_TRUE(gate->WaitForBegun(2));
  WaitForLogged(1);
  gate->Set(true);
  Type("pi(2)\n");
  EXPECT_TRUE(gate->WaitForBegun(3));
  interrupted = true;
  WaitForLogged(2);
  gate->Set(false);
  Type("pi(3)\n");
  EXPECT_TRUE(gate->WaitForBegun(4));
  End();
  prompt.join();
  const auto objects = Objects();
  ASSERT_GE(objects.size(), 3u);
  EXPECT_EQ(objects[objects.size() - 3]["error"], "crop: the fake cannot");
  EXPECT_EQ(objects[objects.size() - 2]["error"], "cancelled");
  EXPECT_EQ(objects.back()["setting"], "pi(3)");
}

}  // namespace
}  // namespace midscope::cli
