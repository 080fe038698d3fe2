// SPDX-License-Identifier: MIT
// The probes of the papers: folded rows compared with complete rows, the lens with the run's own
// logits, perplexity with scored answers, summaries with cases calculated by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "core/tokenizer/prompt.h"
#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/engine/run_probe.h"
#include "probes/measure/builtin/probes.h"
#include "probes/prompt/task_prompt.h"
#include "tests/probes/support/open_model.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using testing::EmbeddedModel;
using ::testing::HasSubstr;

constexpr size_t kHeads = 9;

Prompt ListPrompt(int64_t place, const std::string& spec = "list:lines=7") {
  const auto task = MakeTaskFor(EmbeddedModel()->tokenizer(), spec, 1);
  return TaskPrompt(EmbeddedModel()->tokenizer(), task->Make(0, place));
}

std::vector<Record> Measure(const Prompt& prompt,
                            const std::vector<std::pair<std::string, std::string>>& settings,
                            const std::string& with = "none") {
  const ProbeRegistry probes = BuiltInProbes();
  OptionSet options(probes.Options());
  for (const auto& [name, value] : settings) options.SetText(name, value);
  std::vector<Record> records =
      RunProbes(*EmbeddedModel(), prompt, ParseIntervention(with), probes, options);
  for (const Record& record : records) record.Check();
  return records;
}

const Record& Find(const std::vector<Record>& records, const std::string& name) {
  for (const Record& record : records) {
    if (record.name == name) return record;
  }
  throw std::logic_error("no record " + name);
}

double Sum(const float* weights, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t key = begin; key < end; ++key) sum += weights[key];
  return sum;
}

TEST(ProbeSelection, RunsWhatIsNamedAndWhatItsOwnOptionAsksFor) {
  const ProbeRegistry probes = BuiltInProbes();
  const auto selected = [&](const std::string& names, const std::string& channels) {
    OptionSet options(probes.Options());
    options.SetText("probes", names);
    options.SetText("channels", channels);
    std::set<std::string> found;
    for (const ProbeType* type : probes.Selected(options)) found.insert(type->name);
    return found;
  };
  const std::set<std::string> unasked = {"last_query_attention", "position_awareness",
                                         "counted_keys",         "position_ratio",
                                         "next_tokens",          "last_logits"};
  EXPECT_EQ(selected("", ""), unasked);
  EXPECT_EQ(selected("default", ""), unasked);
  EXPECT_EQ(selected("logit_lens", "100"),
            (std::set<std::string>{"logit_lens", "hidden_channels"}));
  EXPECT_EQ(selected("default,perplexity", "").size(), 7u);
  EXPECT_THROW(selected("logit_lense", ""), Error);
  EXPECT_THROW(selected("hidden_channels", ""), Error);
}

TEST(SpanAttention, IsTheRowFoldedOverThePassages) {
  const Prompt prompt = ListPrompt(3);
  const auto records =
      Measure(prompt, {{"probes", "last_query_attention,span_attention"}, {"sink-tokens", "2"}});
  const auto& rows =
      ArrayValues<float>(Find(records, "last_query_attention"), "last_query_attention");
  const Record& folded = Find(records, "span_attention");
  const std::vector<std::string>& names = folded.FindAxis("span")->labels;
  ASSERT_EQ(names.size(), prompt.spans.size());
  EXPECT_EQ(names.front(), "gold");
  EXPECT_EQ(names[1], "line 1");
  const auto keys = prompt.ids.size();
  const auto& sums = ArrayValues<double>(folded, "span_attention_sum");
  const auto& means = ArrayValues<double>(folded, "span_attention_mean");
  for (size_t head = 0; head < 30 * kHeads; ++head) {
    const float* row = rows.data() + head * keys;
    for (size_t s = 0; s < names.size(); ++s) {
      const PromptSpan& span = *prompt.FindSpan(names[s]);
      const double expected = Sum(row, span.token_begin, span.token_end);
      EXPECT_NEAR(sums[head * names.size() + s], expected, 1e-12);
      EXPECT_NEAR(
          means[head * names.size() + s] * static_cast<double>(span.token_end - span.token_begin),
          expected, 1e-12);
    }
    EXPECT_NEAR(ArrayValues<double>(folded, "sink_mass")[head], Sum(row, 0, 2), 1e-12);
  }
  const PromptSpan& gold = *prompt.FindSpan("gold");
  EXPECT_NEAR(ArrayValues<double>(folded, "gold_over_uniform")[7],
              ArrayValues<double>(folded, "gold_attention")[7] * static_cast<double>(keys) /
                  static_cast<double>(gold.token_end - gold.token_begin),
              1e-9);
}

TEST(SpanAttention, NeedsNamedPassages) {
  const Prompt prompt =
      BuildPrompt(EmbeddedModel()->tokenizer(), "The capital of France is", {}, "", false);
  for (const char* name : {"span_attention", "key_information", "retrieval_heads"}) {
    try {
      Measure(prompt, {{"probes", name}});
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
      EXPECT_THAT(error.what(), HasSubstr("--span"));
    }
  }
}

// A stacked span_attention of one layer with two heads: the attention of head 0 follows the gold,
// that of head 1 is always at one place.
TEST(GoldFollowing, TellsAHeadThatFollowsFromOneThatStays) {
  Record record;
  record.name = "span_attention";
  record.axes = {CountedAxis("sample", 2), ValuedAxis("place", {1, 5, 9}), CountedAxis("layer", 1),
                 CountedAxis("head", 2)};
  const std::vector<std::string> axes = {"sample", "place", "layer", "head"};
  const auto add = [&](const std::string& name, std::vector<double> values) {
    record.arrays.push_back({name, axes, std::move(values), "", ""});
  };
  add("gold_attention", {.5, .1, .6, .3, .4, .1, .7, .1, .6, .3, .4, .1});
  add("gold_over_uniform", {5, 1, 6, 3, 4, 0.5, 7, 1, 6, 3, 4, 0.5});
  add("attention_centre_after_sink", {10, 50, 50, 50, 90, 50, 11, 60, 52, 50, 95, 40});
  const Record following = GoldFollowing(record);
  following.Check();
  EXPECT_THAT(ArrayValues<double>(following, "least_gold_over_uniform"), ElementsAre(4, 0.5));
  const auto& correlation = ArrayValues<double>(following, "centre_place_correlation");
  EXPECT_NEAR(correlation[0], 1, 1e-12);
  EXPECT_NEAR(correlation[1], -1, 1e-12);  // sample 0 is constant and is ignored
  const auto& mean = ArrayValues<double>(following, "mean_gold_attention");
  EXPECT_NEAR(mean[0], 0.6, 1e-12);
  EXPECT_NEAR(mean[5], 0.1, 1e-12);
  // Two samples, 0.5 and 0.7: 12.706 (Student's t, one degree of freedom) standard errors of 0.1.
  const auto& half_width = ArrayValues<double>(following, "mean_gold_attention_half_width");
  EXPECT_NEAR(half_width[0], 1.2706, 1e-4);
  EXPECT_NEAR(half_width[5], 0, 1e-12);
}

TEST(KeyInformation, IsTheMeanOverHeadsOfThePiecesSums) {
  const Prompt prompt = ListPrompt(4);
  const auto records = Measure(
      prompt, {{"probes", "last_query_attention,key_information"}, {"key-layers", "3,10-12"}});
  const auto& rows =
      ArrayValues<float>(Find(records, "last_query_attention"), "last_query_attention");
  const Record& key = Find(records, "key_information");
  EXPECT_EQ(key.FindAxis("layer")->values, (std::vector<double>{3, 10, 11, 12}));
  EXPECT_EQ(std::get<int64_t>(key.attributes.at("gold_piece")), 4);
  const PromptSpan& line = *prompt.FindSpan("line 2");
  double sum = 0;
  for (size_t head = 0; head < kHeads; ++head) {
    const float* row = rows.data() + (10 * kHeads + head) * prompt.ids.size();
    sum += Sum(row, line.token_begin, line.token_end) / kHeads;
  }
  EXPECT_NEAR(ArrayValues<double>(key, "piece_attention_sum")[1 * 7 + 1], sum, 1e-12);
  EXPECT_NEAR(ArrayValues<double>(key, "piece_attention_mean")[1 * 7 + 1],
              sum / static_cast<double>(line.token_end - line.token_begin), 1e-12);
}

TEST(KeyInformationMap, HasARowForEachPlaceOfTheGold) {
  const auto of = [](double first, double second) {
    Record record;
    record.name = "key_information";
    record.axes = {ValuedAxis("piece", {1, 2})};
    record.arrays = {{"piece_attention", {"piece"}, std::vector<double>{first, second}, "", ""},
                     {"piece_attention_per_token",
                      {"piece"},
                      std::vector<double>{first / 2, second / 2},
                      "",
                      ""}};
    return record;
  };
  const Record map =
      KeyInformationMap(StackRecords({of(1, 0), of(0, 2), of(3, 0), of(0, 4)},
                                     {CountedAxis("sample", 2), ValuedAxis("place", {1, 2})}));
  map.Check();
  EXPECT_THAT(ArrayValues<double>(map, "attention_map_sum"), ElementsAre(2, 0, 0, 3));
  EXPECT_THAT(ArrayValues<double>(map, "attention_map_mean"), ElementsAre(1, 0, 0, 1.5));
}

TEST(HeadScores, AgreeWithTheScoreAndWithTheRatiosOfARun) {
  const Prompt prompt = ListPrompt(2, "list:lines=20");
  for (const char* with : {"ms-poe(min=1.2, max=1.8, first_layer=0)",
                           "ms-poe(min=1.2, max=1.8, mode=code, first_layer=0)"}) {
    const auto plain = Measure(prompt, {{"probes", "default,head_scores"}, {"ratios-under", with}});
    const auto changed = Measure(prompt, {}, with);
    const Record& scores = Find(plain, "head_scores");
    const auto& product =
        ArrayValues<float>(Find(plain, "position_awareness"), "position_awareness_score");
    for (size_t i = 0; i < product.size(); ++i) {
      EXPECT_NEAR(ArrayValues<double>(scores, "score_at_least")[i], product[i], 1e-7);
    }
    // The input of the first changed layer equals that of the unchanged run.
    const auto& ratios = ArrayValues<double>(Find(changed, "position_ratio"), "position_ratio");
    for (size_t head = 0; head < kHeads; ++head) {
      EXPECT_EQ(ArrayValues<double>(scores, "ratio_under")[head], ratios[head]) << with;
    }
    std::set<int64_t> ranks(ArrayValues<int64_t>(scores, "head_rank").begin(),
                            ArrayValues<int64_t>(scores, "head_rank").begin() + kHeads);
    EXPECT_EQ(ranks.size(), kHeads);
  }
  EXPECT_THROW(Measure(prompt, {{"probes", "head_scores"}, {"ratios-under", "pi(2)"}}), Error);
}

TEST(HeadScores, CountKeysBelowAThreshold) {
  const Prompt prompt = ListPrompt(2, "list:lines=20");
  const auto records = Measure(prompt, {{"probes", "last_query_attention,head_scores"}});
  const Record& scores = Find(records, "head_scores");
  const auto& attention =
      ArrayValues<float>(Find(records, "last_query_attention"), "last_query_attention");
  const auto& sparse = ArrayValues<double>(scores, "sparse_share_rotated");
  const size_t keys = attention.size() / sparse.size();
  for (size_t head = 0; head < sparse.size(); ++head) {
    const auto row = std::span(attention).subspan(head * keys, keys);
    const auto below = std::ranges::count_if(
        row, [keys](float weight) { return weight * static_cast<float>(keys) < 1; });
    EXPECT_NEAR(sparse[head], static_cast<double>(below) / static_cast<double>(keys), 1e-9);
  }
  // Keys that do not reach the score's threshold.
  const auto three = Measure(prompt, {{"probes", "head_scores"}, {"sparse-below", "3"}}).front();
  for (size_t head = 0; head < sparse.size(); ++head) {
    EXPECT_NEAR(ArrayValues<double>(three, "sparse_share")[head],
                1 - ArrayValues<double>(three, "score_at_least")[head], 1e-12);
  }
}

TEST(HeadScores, TakeAnAlpha) {
  const Prompt prompt = ListPrompt(2, "list:lines=20");
  const char* with = "ms-poe(min=1.2, max=1.8, alpha=1.5, first_layer=0)";
  const auto named = Measure(prompt, {{"probes", "head_scores"}, {"ratios-under", with}}).front();
  const auto given = Measure(prompt, {{"probes", "head_scores"}, {"score-alpha", "1.5"}}).front();
  EXPECT_EQ(std::get<std::string>(named.attributes.at("threshold")), ">= 1.5/tokens");
  EXPECT_EQ(ArrayValues<double>(named, "score_at_least"),
            ArrayValues<double>(given, "score_at_least"));
  EXPECT_EQ(ArrayValues<double>(named, "ratio_under"), ArrayValues<double>(given, "ratio_under"));
  const auto changed = Measure(prompt, {{"awareness-alpha", "1.5"}}, "none");
  const auto& product =
      ArrayValues<float>(Find(changed, "position_awareness"), "position_awareness_score");
  for (size_t i = 0; i < product.size(); ++i)
    EXPECT_NEAR(ArrayValues<double>(given, "score_at_least")[i], product[i], 1e-7);
  // The ratios of the first changed layer are ordered by this score.
  const auto run = Measure(prompt, {}, with);
  for (size_t head = 0; head < kHeads; ++head) {
    EXPECT_EQ(ArrayValues<double>(Find(run, "position_ratio"), "position_ratio")[head],
              ArrayValues<double>(given, "ratio_under")[head]);
  }
}

// counted_keys contains the keys whose share is the score, and the threshold as a weight.
TEST(CountedKeys, AreTheScoresOwn) {
  const Prompt prompt = ListPrompt(2, "list:lines=20");
  const size_t keys = prompt.ids.size();
  for (const char* with : {"none", "ms-poe(alpha=2)", "ms-poe(mode=code, alpha=2)"}) {
    const auto records = Measure(prompt, {}, with);
    const Record& counted = Find(records, "counted_keys");
    const auto& marks = ArrayValues<uint8_t>(counted, "counted_keys");
    const auto& score =
        ArrayValues<float>(Find(records, "position_awareness"), "position_awareness_score");
    ASSERT_EQ(marks.size(), score.size() * keys);
    for (size_t head = 0; head < score.size(); ++head) {
      size_t count = 0;
      for (size_t key = 0; key < keys; ++key) count += marks[head * keys + key];
      EXPECT_EQ(static_cast<float>(static_cast<double>(count) / static_cast<double>(keys)),
                score[head]);
    }
    const double alpha = std::string(with) == "none" ? 3 : 2;
    EXPECT_EQ(std::get<double>(counted.attributes.at("alpha")), alpha);
    EXPECT_EQ(std::get<double>(counted.attributes.at("threshold_weight")),
              double{static_cast<float>(alpha) / static_cast<float>(keys)});
    EXPECT_EQ(counted.attributes.at("threshold"),
              Find(records, "position_awareness").attributes.at("threshold"));
  }
}

TEST(HeadScoreStability, IsOneForOneOrderAndLessForAnother) {
  const auto of = [](std::vector<double> scores, std::vector<int64_t> ranks) {
    Record record;
    record.name = "head_scores";
    record.axes = {CountedAxis("layer", 1), CountedAxis("head", 3)};
    record.arrays = {{"score_at_least", {"layer", "head"}, std::move(scores), "", ""},
                     {"head_rank", {"layer", "head"}, std::move(ranks), "", ""}};
    record.signal = "score_at_least";
    return record;
  };
  const std::vector<Axis> two = {CountedAxis("sample", 2), CountedAxis("place", 1)};
  const Record same = HeadScoreStability(
      StackRecords({of({.1, .2, .3}, {2, 1, 0}), of({.4, .5, .6}, {2, 1, 0})}, two));
  same.Check();
  EXPECT_NEAR(ArrayValues<double>(same, "score_spearman")[0], 1, 1e-12);
  EXPECT_THAT(ArrayValues<double>(same, "rank_deviation"), ElementsAre(0, 0, 0));
  const Record swapped = HeadScoreStability(
      StackRecords({of({.1, .2, .3}, {2, 1, 0}), of({.2, .1, .3}, {1, 2, 0})}, two));
  EXPECT_NEAR(ArrayValues<double>(swapped, "score_spearman")[0], 0.5, 1e-12);
  EXPECT_NEAR(ArrayValues<double>(swapped, "score_kendall")[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(ArrayValues<double>(swapped, "rank_deviation")[0], std::sqrt(0.5), 1e-12);
  EXPECT_EQ(std::get<int64_t>(swapped.attributes.at("pairs")), 1);
}

TEST(LogitLens, EndsInTheRunsOwnLogits) {
  const Prompt prompt = ListPrompt(7);
  const auto records = Measure(prompt, {{"probes", "default,logit_lens"}, {"lens-top", "3"}});
  const Record& lens = Find(records, "logit_lens");
  const Record& next = Find(records, "next_tokens");
  const size_t last = size_t{29} * 3;
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ArrayValues<int64_t>(lens, "lens_token_ids")[last + rank],
              ArrayValues<int64_t>(next, "next_token_ids")[rank]);
    EXPECT_NEAR(ArrayValues<float>(lens, "lens_logit")[last + rank],
                ArrayValues<float>(next, "logit")[rank], 1e-3);
  }
  const double nll = ArrayValues<double>(Find(records, "answer"), "answer_token_nll").front();
  EXPECT_NEAR(ArrayValues<double>(lens, "answer_log_probability").back(), -nll, 1e-4);
  const auto& ranks = ArrayValues<int64_t>(lens, "answer_rank");
  ASSERT_EQ(ranks.size(), 30u);
  EXPECT_LT(ranks.back(), ranks.front());
}

TEST(RetrievalHeads, CountsOnlyCopiesOfTheAnswersTokensInTheGold) {
  const Prompt prompt = ListPrompt(2, "kv:pairs=2");
  const auto records = Measure(prompt, {{"probes", "retrieval_heads"}});
  const Record& heads = Find(records, "retrieval_heads");
  const auto& score = ArrayValues<double>(heads, "retrieval_score");
  const auto& in_gold = ArrayValues<double>(heads, "gold_top_share");
  double best = 0;
  for (size_t i = 0; i < score.size(); ++i) {
    EXPECT_LE(score[i], in_gold[i]);
    EXPECT_LE(in_gold[i], 1);
    best = std::max(best, score[i]);
  }
  EXPECT_GT(best, 0.5);  // some heads of this model copy
  // If another passage is marked as gold, the same heads do not copy from it.
  Prompt moved = prompt;
  for (PromptSpan& span : moved.spans) {
    if (span.name != "gold") continue;
    span.token_begin = prompt.FindSpan("question")->token_begin;
    span.token_end = span.token_begin + 2;
  }
  const auto elsewhere = Measure(moved, {{"probes", "retrieval_heads"}});
  for (const double value :
       ArrayValues<double>(Find(elsewhere, "retrieval_heads"), "retrieval_score")) {
    EXPECT_EQ(value, 0);
  }
}

TEST(SlidingWindows, CountEveryTokenButTheFirstOnce) {
  EXPECT_THAT(SlidingWindows(10, 16, 4), ElementsAre(TextWindow{0, 10, 1}));
  EXPECT_THAT(SlidingWindows(10, 4, 3),
              ElementsAre(TextWindow{0, 4, 1}, TextWindow{3, 7, 4}, TextWindow{6, 10, 7}));
  for (const int64_t window : {5, 8}) {
    int64_t next = 1;
    for (const TextWindow& part : SlidingWindows(33, window, 3)) {
      EXPECT_EQ(part.first_target, next);
      EXPECT_GT(part.first_target, part.begin);
      EXPECT_LE(part.end - part.begin, window);
      next = part.end;
    }
    EXPECT_EQ(next, 33);
  }
  EXPECT_TRUE(SlidingWindows(1, 4, 2).empty());
  EXPECT_THROW(SlidingWindows(10, 4, 4), std::logic_error);
}

TEST(Perplexity, IsThatOfTheTextScoredAsAnAnswer) {
  const std::string text = "The capital of France is Paris, and the capital of Italy is Rome.";
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const Prompt whole = BuildPrompt(tokenizer, text, {}, "", false);
  const auto records = Measure(whole, {{"probes", "perplexity"}, {"perplexity-bin", "5"}});
  ASSERT_EQ(records.size(), 1u);  // without a shared run there is no other record
  const Record& perplexity = records.front();
  Prompt first = whole;
  first.ids.resize(1);
  first.answer_ids.assign(whole.ids.begin() + 1, whole.ids.end());
  const auto scored = Measure(first, {{"probes", "next_tokens"}});
  const auto& expected = ArrayValues<double>(Find(scored, "answer"), "answer_token_nll");
  const auto& nll = ArrayValues<double>(perplexity, "token_nll");
  ASSERT_EQ(nll.size(), expected.size());
  double sum = 0;
  for (size_t i = 0; i < nll.size(); ++i) {
    EXPECT_NEAR(nll[i], expected[i], 1e-4);
    sum += nll[i];
  }
  EXPECT_NEAR(std::get<double>(perplexity.attributes.at("perplexity")),
              std::exp(sum / static_cast<double>(nll.size())), 1e-9);
  const auto& bins = ArrayValues<double>(perplexity, "bin_perplexity");
  EXPECT_EQ(bins.size(), (nll.size() + 4) / 5);
  EXPECT_NEAR(bins[0], std::exp((nll[0] + nll[1] + nll[2] + nll[3] + nll[4]) / 5), 1e-9);
}

TEST(Perplexity, SlidesOverATextWithItsOwnContextForEachWindow) {
  const std::string text = "One two three four five six seven eight nine ten eleven twelve";
  const Prompt prompt = BuildPrompt(EmbeddedModel()->tokenizer(), text, {}, "", false);
  const auto records =
      Measure(prompt, {{"probes", "perplexity"}, {"window", "8"}, {"stride", "3"}});
  const Record& sliding = records.front();
  const auto& context = ArrayValues<int64_t>(sliding, "context_tokens");
  EXPECT_EQ(context[6], 7);  // the last token of the first window
  EXPECT_EQ(context[7], 5);  // the first new token of the second window, which begins at 3
  Prompt part = prompt;      // the second window alone
  part.ids.assign(prompt.ids.begin() + 3, prompt.ids.begin() + 8);
  part.answer_ids = {prompt.ids[8]};
  const auto scored = Measure(part, {{"probes", "next_tokens"}});
  EXPECT_NEAR(ArrayValues<double>(sliding, "token_nll")[7],
              ArrayValues<double>(Find(scored, "answer"), "answer_token_nll").front(), 1e-4);
  EXPECT_THROW(Measure(prompt, {{"probes", "perplexity"}, {"window", "8"}, {"stride", "8"}}),
               Error);
  EXPECT_THROW(Measure(prompt, {{"probes", "perplexity"}, {"window", "8193"}}), Error);
}

}  // namespace
}  // namespace midscope
