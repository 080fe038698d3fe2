// SPDX-License-Identifier: MIT
// Probes of one run compared with each other and with the decoder's own results.
#include "probes/engine/run_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "core/tokenizer/prompt.h"
#include "probes/model/memory_estimate.h"
#include "probes/prompt/prompt_record.h"
#include "tests/probes/support/open_model.h"

namespace midscope {
namespace {

using testing::EmbeddedModel;
using ::testing::HasSubstr;

Prompt France(const std::string& answer = "") {
  return BuildPrompt(EmbeddedModel()->tokenizer(), "The capital of France is", {{"gold", 15, 21}},
                     answer, false);
}

std::vector<Record> RunAll(const Prompt& prompt, const std::string& with,
                           const std::string& channels, int64_t rows) {
  const ProbeRegistry probes = BuiltInProbes();
  OptionSet options(probes.Options());
  options.SetText("channels", channels);
  options.Set("residual-rows", rows);
  std::vector<Record> records =
      RunProbes(*EmbeddedModel(), prompt, ParseIntervention(with), probes, options);
  for (const Record& record : records) record.Check();
  return records;
}

template <typename T>
const std::vector<T>& Data(const std::vector<Record>& records, const std::string& record,
                           const std::string& array) {
  return std::get<std::vector<T>>(FindRecord(records, record)->FindArray(array)->data);
}

TEST(RunProbes, GivesEveryFixedArrayOnce) {
  std::vector<Record> records = RunAll(France(), "none", "100,215", 2);
  records.push_back(PromptRecord(France(), EmbeddedModel()->tokenizer(), 0));
  std::multiset<std::string> names;
  for (const Record& record : records) {
    for (const Array& array : record.arrays) names.insert(array.name);
  }
  for (const char* name : {"token_ids", "last_logits", "last_query_attention",
                           "position_awareness_score", "position_ratio", "hidden_channel"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

TEST(RunProbes, CostsOnlyWhatIsAskedFor) {
  const std::vector<Record> records = RunAll(France(), "none", "", 0);
  EXPECT_EQ(FindRecord(records, "hidden_channels"), nullptr);
  EXPECT_EQ(FindRecord(records, "residual_rows"), nullptr);
  EXPECT_EQ(FindRecord(records, "answer"), nullptr);
  EXPECT_NE(FindRecord(records, "last_query_attention"), nullptr);
}

TEST(RunProbes, AttentionRowsSumToOne) {
  const std::vector<Record> records = RunAll(France(), "none", "", 0);
  const auto& attention = Data<float>(records, "last_query_attention", "last_query_attention");
  ASSERT_EQ(attention.size(), 30u * 9 * 5);
  for (size_t row = 0; row < attention.size(); row += 5) {
    double sum = 0;
    for (size_t key = 0; key < 5; ++key) sum += attention[row + key];
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(RunProbes, AttentionOfChosenRowsIsThatOfPromptsThatEndThere) {
  Prompt prompt = France();
  prompt.spans = {{"gold", 0, 0, 1, 3}};
  const auto measure = [](const Prompt& of, const std::string& at, const std::string& setting) {
    const ProbeRegistry probes = BuiltInProbes();
    OptionSet options(probes.Options());
    options.SetText("probes", "attention_rows");
    options.SetText("attention-at", at);
    return RunProbes(*EmbeddedModel(), of, ParseIntervention(setting), probes, options).front();
  };
  for (const char* setting : {"none", "pi(1.5)", "channel(100, factor=-1, rows=all)"}) {
    const Record rows = measure(prompt, "gold,4", setting);
    ASSERT_EQ(rows.FindAxis("row")->values, (std::vector<double>{1, 2, 4}));
    const auto& all = std::get<std::vector<float>>(rows.arrays.front().data);
    ASSERT_EQ(all.size(), 30u * 9 * 3 * 5);
    for (const size_t index : {0u, 1u, 2u}) {
      // A row depends only on earlier tokens, so the prompt may end there.
      const auto row = static_cast<size_t>(rows.FindAxis("row")->values[index]);
      Prompt cut = France();
      cut.ids.resize(row + 1);
      const Record last = measure(cut, std::to_string(row), setting);
      const auto& own = std::get<std::vector<float>>(last.arrays.front().data);
      for (size_t head = 0; head < all.size() / 15; ++head) {
        for (size_t key = 0; key < 5; ++key) {
          const float expected = key <= row ? own[head * (row + 1) + key] : 0.0f;
          ASSERT_NEAR(all[(head * 3 + index) * 5 + key], expected, 2e-5) << setting << " " << head;
        }
      }
    }
  }
  for (const char* wrong : {"5", "silver"}) EXPECT_THROW(measure(prompt, wrong, "none"), Error);
}

TEST(RunProbes, HiddenChannelIsTheColumnOfTheResidualRows) {
  const std::vector<Record> records = RunAll(France(), "none", "100", 5);
  const auto& channel = Data<float>(records, "hidden_channels", "hidden_channel");
  const auto& rows = Data<float>(records, "residual_rows", "residual");
  ASSERT_EQ(channel.size(), 30u * 5);
  ASSERT_EQ(rows.size(), 30u * 5 * 576);
  for (size_t at = 0; at < channel.size(); ++at) EXPECT_EQ(channel[at], rows[at * 576 + 100]);
}

TEST(RunProbes, ResidualRowsAreThoseThatWereNamed) {
  Prompt prompt = France();
  prompt.spans = {{"gold", 0, 0, 2, 4}};
  const auto measure = [&](const std::string& last, const std::string& at) {
    const ProbeRegistry probes = BuiltInProbes();
    OptionSet options(probes.Options());
    options.SetText("probes", "residual_rows");
    options.SetText("residual-rows", last);
    options.SetText("residual-at", at);
    return RunProbes(*EmbeddedModel(), prompt, ParseIntervention("none"), probes, options).front();
  };
  const Record all = measure("5", "");
  const auto& of_all = std::get<std::vector<float>>(all.arrays.front().data);
  const std::pair<std::pair<const char*, const char*>, std::vector<double>> cases[] = {
      {{"0", "0,2-3"}, {0, 2, 3}},
      {{"0", "gold"}, {2, 3}},
      {{"1", "gold, 1"}, {1, 2, 3, 4}},
      {{"2", "3"}, {3, 4}},
  };
  for (const auto& [given, rows] : cases) {
    const Record record = measure(given.first, given.second);
    ASSERT_EQ(record.FindAxis("position")->values, rows) << given.second;
    const auto& values = std::get<std::vector<float>>(record.arrays.front().data);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t layer = i / 576 / rows.size();
      const auto row = static_cast<size_t>(rows[i / 576 % rows.size()]);
      const float expected = of_all[(layer * 5 + row) * 576 + i % 576];
      // The last layer runs other rows, and therefore other block sizes in its products.
      ASSERT_NEAR(values[i], expected, 1e-5 * std::max(1.0f, std::abs(expected)));
    }
  }
  for (const char* wrong : {"5", "3-1", "silver", "1,,2"}) {
    EXPECT_THROW(measure("0", wrong), Error) << wrong;
  }
}

TEST(RunProbes, RatiosAreThoseOfTheScheme) {
  const std::vector<Record> plain = RunAll(France(), "none", "", 0);
  for (const double ratio : Data<double>(plain, "position_ratio", "position_ratio")) {
    EXPECT_EQ(ratio, 1);
  }
  const std::vector<Record> changed = RunAll(France(), "ms-poe(min=1.2, max=1.8)", "", 0);
  const auto& ratios = Data<double>(changed, "position_ratio", "position_ratio");
  EXPECT_EQ(ratios[0], 1);  // the first two layers are unchanged
  const std::set<double> last_layer(ratios.end() - 9, ratios.end());
  EXPECT_EQ(last_layer.size(), 9u);
  EXPECT_NEAR(*last_layer.begin(), 1.2, 1e-12);
  EXPECT_NEAR(*last_layer.rbegin(), 1.8, 1e-12);
}

TEST(RunProbes, ScoreCountsByThePapersRuleAndInModeCodeByTheCodes) {
  const auto rule = [](const std::string& with) {
    const std::vector<Record> records = RunAll(France(), with, "", 0);
    return std::get<std::string>(
        FindRecord(records, "position_awareness")->attributes.at("threshold"));
  };
  EXPECT_EQ(rule("none"), ">= 3/tokens");
  EXPECT_EQ(rule("ms-poe(mode=group)"), ">= 3/tokens");
  EXPECT_EQ(rule("ms-poe(mode=code)"), "> 3/tokens");
  EXPECT_EQ(rule("ms-poe(alpha=2.5)"), ">= 2.5/tokens");
}

TEST(RunProbes, AnAnswerIsScoredWithoutChangingTheProbes) {
  const std::vector<Record> plain = RunAll(France(), "none", "100", 2);
  const std::vector<Record> scored = RunAll(France(" Paris, of course"), "none", "100", 2);
  const Record* answer = FindRecord(scored, "answer");
  ASSERT_NE(answer, nullptr);
  const auto& token_nll =
      std::get<std::vector<double>>(answer->FindArray("answer_token_nll")->data);
  const double paris = Data<double>(plain, "next_tokens", "probability").front();
  EXPECT_NEAR(token_nll.front(), -std::log(paris), 1e-3);
  EXPECT_EQ(Data<int64_t>(plain, "next_tokens", "next_token_ids").front(), 7042);
  const auto& before = Data<float>(plain, "last_query_attention", "last_query_attention");
  const auto& after = Data<float>(scored, "last_query_attention", "last_query_attention");
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-4);
}

TEST(RunProbes, RefusesAPromptOverTheContextWithBothNumbers) {
  Prompt prompt = France();
  prompt.ids.assign(8193, 1);
  try {
    RunAll(prompt, "none", "", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("8193"));
    EXPECT_THAT(error.what(), HasSubstr("8192"));
  }
}

TEST(RunProbes, RefusesAChannelThatTheModelHasNot) {
  EXPECT_THROW(RunAll(France(), "none", "576", 0), Error);
}

TEST(PromptRecord, MarksTokensAndPassages) {
  const Record record = PromptRecord(France(" Paris"), EmbeddedModel()->tokenizer(), 0);
  record.Check();
  EXPECT_EQ(std::get<std::vector<int64_t>>(record.FindArray("token_ids")->data),
            (std::vector<int64_t>{504, 3575, 282, 4649, 314}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(record.FindArray("token_begin")->data),
            (std::vector<int64_t>{0, 3, 11, 14, 21}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(record.FindArray("span_token_begin")->data).front(), 3);
  EXPECT_EQ(std::get<int64_t>(record.attributes.at("gold")), 0);
  EXPECT_EQ(std::get<std::string>(record.attributes.at("answer")), " Paris");
}

TEST(MemoryEstimate, OfATraceIsTheDecodersOwn) {
  const Decoder& decoder = *EmbeddedModel();
  const MemoryEstimate estimate = EstimateMemory(decoder.config(), decoder.options().dtype, 2048);
  EXPECT_EQ(estimate.trace_bytes, decoder.TraceBytes(2048));
  EXPECT_EQ(estimate.cache_bytes, decoder.TraceBytes(2048, {.residual = false}));
}

}  // namespace
}  // namespace midscope
