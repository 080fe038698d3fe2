// SPDX-License-Identifier: MIT
// The examples in the comments of public headers compile and run.
//
// Contract: the code of each example is contained in this file, except for line breaks; the test
// that runs it checks its result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "core/tokenizer/prompt.h"
#include "probes/base/probe.h"
#include "probes/engine/run_probe.h"
#include "probes/measure/builtin/probe_registry.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/sweep.h"
#include "tests/core/support/embedded_decoder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

// core/decoder/hooks.h
class LargestResidual : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point != HookPoint{HookSite::kResidPost, 12}) return {};
    return {HookAccess::kRead, {0, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.rows(); ++row) {
      for (int64_t i = 0; i < view.shape[2]; ++i) value = std::max(value, view.At(0, row, i));
    }
  }
  float value = 0;
};

// probes/base/probe.h
class LargestLogit : public Probe {
 public:
  explicit LargestLogit(const ProbeInput& input) : row_(input.prompt_tokens() - 1) {}
  Record Finish(const RunResult& result) override {
    const std::span<const float> logits = result.Logits(row_);
    Record record;
    record.name = "largest_logit";
    record.attributes["logit"] = double{*std::max_element(logits.begin(), logits.end())};
    return record;
  }

 private:
  int64_t row_;
};

ProbeType LargestLogitType() {
  ProbeType type;
  type.name = "largest_logit";
  type.make = [](const ProbeInput& input) { return std::make_unique<LargestLogit>(input); };
  return type;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string WithoutSpace(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

// The code of the example in a header, without white space; "" if there is none.
std::string ExampleOf(const std::string& header) {
  const std::string text = ReadText(std::string(MIDSCOPE_TESTS "/../") + header);
  const size_t example = text.find("// Example:\n");
  if (example == std::string::npos) return "";
  const std::string begin = "// clang-format off\n";
  const size_t first = text.find(begin, example) + begin.size();
  const size_t last = text.find("// clang-format on\n", first);
  std::string code;
  for (size_t at = first; at < last;) {
    const size_t end = text.find('\n', at);
    code += text.substr(at + 2, end - at - 2);
    at = end + 1;
  }
  return WithoutSpace(code);
}

TEST(Snippets, TheExamplesOfTheHeadersAreThoseOfThisFile) {
  const std::string here =
      WithoutSpace(ReadText(MIDSCOPE_TESTS "/probes/engine/snippets_test.cpp"));
  for (const char* header : {"core/base/record.h", "core/decoder/decoder.h", "core/decoder/hooks.h",
                             "core/run/what_if.h", "probes/base/probe.h", "probes/sweep/sweep.h"}) {
    SCOPED_TRACE(header);
    const std::string example = ExampleOf(header);
    EXPECT_GT(example.size(), 100u);
    EXPECT_NE(here.find(example), std::string::npos) << example;
  }
}

TEST(Snippets, Decoder) {
  std::shared_ptr<const Decoder> decoder = Decoder::Open("embedded", {});
  const std::vector<int32_t> ids = decoder->tokenizer().EncodeIds("The capital of France is");
  RunRequest request;
  request.ids = ids;
  request.intervention = ParseIntervention("channel(100, factor=-1, layers=8-25)");
  const RunResult result = decoder->RunOne(request);
  const int64_t last_row = static_cast<int64_t>(ids.size()) - 1;
  const std::span<const float> logits = result.Logits(last_row);  // [vocabulary]
  EXPECT_EQ(logits.size(), static_cast<size_t>(decoder->config().vocabulary));
  request.intervention = {};
  const RunResult plain = decoder->RunOne(request);
  EXPECT_FALSE(std::ranges::equal(logits, plain.Logits(last_row)));
}

TEST(Snippets, WhatIf) {
  const std::shared_ptr<const Decoder> decoder = testing::EmbeddedDecoder();
  const std::string text = "The capital of France is";
  const Prompt prompt = BuildPrompt(decoder->tokenizer(), text, {}, " Paris", /*bos=*/false);
  WhatIf what_if(decoder, {prompt});
  const WhatIfResult before = what_if.Evaluate(Intervention{});
  const WhatIfResult after = what_if.Evaluate(ParseIntervention("channel(100, factor=-1)"));
  const double change = after.outcomes[0].score.nll - before.outcomes[0].score.nll;  // nats
  // Share of rows x layers that were run, compared with a full run.
  const double computed = after.share;
  EXPECT_GT(std::abs(change), 1e-3);
  EXPECT_GT(computed, 0);
  EXPECT_LT(computed, before.share);
}

TEST(Snippets, Hooks) {
  const std::shared_ptr<const Decoder> decoder = testing::EmbeddedDecoder();
  const std::vector<int32_t> ids = testing::SomeIds(*decoder, 20);
  LargestResidual hook;
  RunRequest request;
  request.ids = ids;
  request.hooks = {&hook};
  decoder->RunOne(request);
  EXPECT_GT(hook.value, 0);
}

TEST(Snippets, Record) {
  Record record;
  record.name = "row_entropy";
  record.axes = {{"layer", 2, "", {}, {}}, {"head", 3, "", {}, {}}};
  record.arrays = {
      {"entropy", {"layer", "head"}, std::vector<float>(6), "nats", "entropy of the last row"}};
  record.attributes["prompt_tokens"] = int64_t{271};
  record.signal = "entropy";
  record.Check();
  record.axes[1].size = 4;
  EXPECT_THROW(record.Check(), std::logic_error);
}

TEST(Snippets, Probe) {
  const std::shared_ptr<const Decoder> decoder = testing::EmbeddedDecoder();
  const Prompt prompt =
      BuildPrompt(decoder->tokenizer(), "The capital of France is", {}, "", /*bos=*/false);
  ProbeRegistry probes;
  probes.Add(LargestLogitType());
  const std::vector<midscope::Record> records =
      RunProbes(*decoder, prompt, {}, probes, OptionSet(probes.Options()));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "largest_logit");
  EXPECT_GT(std::get<double>(records[0].attributes.at("logit")), 0);
}

TEST(Snippets, Sweep) {
  const std::shared_ptr<const Decoder> decoder = testing::EmbeddedDecoder();
  const std::unique_ptr<Task> task = MakeTaskFor(decoder->tokenizer(), "list:lines=4", 1);
  SweepRun run;
  run.decoder = decoder;
  run.plan.task = task->name();
  run.plan.samples = 2;
  run.plan.places = {1, 4};
  run.plan.settings = {ReadSetting("none"), ReadSetting("pi(1.5)")};
  run.questions = [&](int64_t sample) {
    return TaskQuestions(decoder->tokenizer(), *task, run.plan.places, sample);
  };
  const SweepResult result = RunSweep(run, {});
  const std::vector<CellStatistics> cells = Summarise(run.plan, result);  // [setting, place]
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[0].samples, 2);
  EXPECT_NE(cells[0].answer_nll, cells[2].answer_nll);
}

}  // namespace
}  // namespace midscope
