// SPDX-License-Identifier: MIT
#include "tests/gui/support/fake_records.h"

#include <cmath>

#include "core/terms/intervention_text.h"
#include "tests/gui/support/fake_engine.h"

namespace midscope {
namespace {

Axis Counted(const std::string& name, int64_t size) { return {name, size, "", {}, {}}; }

Axis Valued(const std::string& name, const std::vector<int64_t>& values) {
  Axis axis{name, static_cast<int64_t>(values.size()), "", {}, {}};
  for (const int64_t value : values) axis.values.push_back(static_cast<double>(value));
  return axis;
}

}  // namespace

Record PromptOf(int64_t place) {
  Record record;
  record.name = "prompt";
  record.axes = {Counted("token", FakeEngine::kTokens), Counted("span", 3),
                 Counted("answer_token", 1)};
  std::vector<std::string> texts;
  std::vector<int64_t> begins;
  std::string text;
  for (int64_t i = 0; i < FakeEngine::kTokens; ++i) {
    begins.push_back(static_cast<int64_t>(text.size()));
    texts.push_back(i % 10 == 9 ? "\n" : " word" + std::to_string(i));
    text += texts.back();
  }
  const int64_t gold = 10 * (place - 1) % FakeEngine::kTokens;
  record.arrays = {
      {"token_text", {"token"}, texts, "", ""},
      {"token_begin", {"token"}, begins, "byte", ""},
      {"span_name", {"span"}, std::vector<std::string>{"line 1", "gold", "question"}, "", ""},
      {"span_token_begin", {"span"}, std::vector<int64_t>{0, gold, 110}, "", ""},
      {"span_token_end", {"span"}, std::vector<int64_t>{10, gold + 10, 120}, "", ""},
      {"answer_token_text", {"answer_token"}, std::vector<std::string>{" word"}, "", ""}};
  record.attributes = {{"text", text},
                       {"answer", std::string(" word")},
                       {"sent", "prompt at place " + std::to_string(place)},
                       {"place", place},
                       {"gold", int64_t{1}},
                       {"prompt_tokens", FakeEngine::kTokens}};
  return record;
}

Record AttentionRecord(int64_t place, double strength) {
  Record record;
  record.name = "last_query_attention";
  record.axes = {Counted("layer", FakeEngine::kLayers), Counted("head", FakeEngine::kHeads),
                 Counted("key", FakeEngine::kTokens)};
  std::vector<float> values;
  for (int64_t layer = 0; layer < FakeEngine::kLayers; ++layer) {
    for (int64_t head = 0; head < FakeEngine::kHeads; ++head) {
      for (int64_t key = 0; key < FakeEngine::kTokens; ++key) {
        values.push_back(FakeEngine::Attention(layer, head, key, place, strength));
      }
    }
  }
  record.arrays = {{"last_query_attention", {"layer", "head", "key"}, values, "", ""}};
  return record;
}

Record CountedKeysRecord(double strength) {
  Record record;
  record.name = "counted_keys";
  record.axes = {Counted("layer", FakeEngine::kLayers), Counted("head", FakeEngine::kHeads),
                 Counted("key", FakeEngine::kTokens)};
  std::vector<uint8_t> values;
  for (int64_t layer = 0; layer < FakeEngine::kLayers; ++layer) {
    for (int64_t head = 0; head < FakeEngine::kHeads; ++head) {
      for (int64_t key = 0; key < FakeEngine::kTokens; ++key)
        values.push_back(FakeEngine::IsCounted(layer, head, key, strength) ? 1 : 0);
    }
  }
  record.arrays = {{"counted_keys", {"layer", "head", "key"}, values, "", ""}};
  record.attributes["threshold"] = ">= 3/tokens";
  record.attributes["threshold_weight"] = FakeEngine::Threshold(strength);
  return record;
}

Record PerHead(const std::string& record_name, const std::string& array,
               const std::function<float(int64_t, int64_t)>& value) {
  Record record;
  record.name = record_name;
  record.axes = {Counted("layer", FakeEngine::kLayers), Counted("head", FakeEngine::kHeads)};
  std::vector<float> values;
  for (int64_t layer = 0; layer < FakeEngine::kLayers; ++layer) {
    for (int64_t head = 0; head < FakeEngine::kHeads; ++head) values.push_back(value(layer, head));
  }
  record.arrays = {{array, {"layer", "head"}, values, "", ""}};
  return record;
}

Record HiddenRecord(const std::vector<int64_t>& channels, double strength) {
  Record record;
  record.name = "hidden_channels";
  record.axes = {Counted("layer", FakeEngine::kLayers), Valued("channel", channels),
                 Counted("position", FakeEngine::kTokens)};
  std::vector<float> values;
  for (int64_t layer = 0; layer < FakeEngine::kLayers; ++layer) {
    for (const int64_t channel : channels) {
      for (int64_t position = 0; position < FakeEngine::kTokens; ++position) {
        const double wave = std::sin(0.2 * static_cast<double>(position + channel));
        values.push_back(static_cast<float>(0.1 * wave + 0.01 * strength +
                                            0.02 * static_cast<double>(layer * position) / 10));
      }
    }
  }
  record.arrays = {{"hidden_channel", {"layer", "channel", "position"}, values, "", ""}};
  return record;
}

Record OutcomeRecord(const std::string& setting, const std::vector<int64_t>& places,
                     double strength) {
  Record record;
  record.name = "outcome";
  record.axes = {{"setting", 1, "", {setting}, {}}, Valued("place", places)};
  std::vector<double> nll;
  std::vector<uint8_t> correct;
  for (const int64_t place : places) {
    nll.push_back(FakeEngine::AnswerNll(place, strength));
    correct.push_back(nll.back() < 3 ? 1 : 0);
  }
  record.arrays = {{"answer_nll", {"setting", "place"}, nll, "nat", ""},
                   {"correct", {"setting", "place"}, correct, "", ""}};
  return record;
}

Record MeansRecord(const std::vector<Intervention>& settings, const std::vector<int64_t>& places,
                   int64_t samples) {
  Record record;
  record.name = "outcome_means";
  Axis setting{"setting", static_cast<int64_t>(settings.size()), "", {}, {}};
  std::vector<double> nll;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> accuracy;
  for (const Intervention& intervention : settings) {
    setting.labels.push_back(PrintIntervention(intervention));
    for (const int64_t place : places) {
      nll.push_back(FakeEngine::AnswerNll(place, FakeEngine::Strength(intervention)) + 0.3);
      low.push_back(nll.back() - 0.2);
      high.push_back(nll.back() + 0.25);
      accuracy.push_back(1 / nll.back());
    }
  }
  record.axes = {setting, Valued("place", places)};
  record.arrays = {
      {"answer_nll", {"setting", "place"}, nll, "nat", ""},
      {"answer_nll_low", {"setting", "place"}, low, "nat", ""},
      {"answer_nll_high", {"setting", "place"}, high, "nat", ""},
      {"accuracy", {"setting", "place"}, accuracy, "", ""},
      {"samples", {"setting"}, std::vector<int64_t>(settings.size(), samples), "", ""}};
  return record;
}

Record NextTokens(double strength) {
  Record record;
  record.name = "next_tokens";
  constexpr int64_t kRanks = 10;
  record.axes = {Counted("rank", kRanks)};
  std::vector<std::string> texts;
  std::vector<int64_t> ids;
  std::vector<double> probabilities;
  const int64_t answer_rank = FakeEngine::AnswerRank(strength);
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    const int64_t other = rank < answer_rank ? rank : rank - 1;
    texts.push_back(rank == answer_rank ? " word" : " other" + std::to_string(other));
    ids.push_back(rank == answer_rank ? FakeEngine::kAnswerToken : 100 + other);
    probabilities.push_back(FakeEngine::NextProbability(rank));
  }
  record.arrays = {{"token_text", {"rank"}, texts, "", ""},
                   {"next_token_ids", {"rank"}, ids, "", ""},
                   {"probability", {"rank"}, probabilities, "", ""}};
  record.attributes = {{"answer_token", FakeEngine::kAnswerToken},
                       {"answer_token_text", std::string(" word")},
                       {"answer_rank", answer_rank},
                       {"answer_probability", FakeEngine::NextProbability(answer_rank)}};
  return record;
}

}  // namespace midscope
