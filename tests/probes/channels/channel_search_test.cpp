// SPDX-License-Identifier: MIT
// The search for positional channels on a random model of 12 blocks in which hooks plant channels:
// after every block, one rises with position, one is noise, one is a step. Also position-awareness
// scores of heads whose attention is known.
#include "probes/measure/channels/channel_search.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/decoder/captures.h"
#include "probes/measure/channels/find_channels.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

constexpr int64_t kRising = 3;
constexpr int64_t kNoise = 7;
constexpr int64_t kStep = 11;
constexpr uint32_t kBlocks = 12;

std::shared_ptr<const Decoder> TinyDecoder() {
  static const test::TemporaryFile file(test::TinyModel(kBlocks, 1024).Bytes());
  static const std::shared_ptr<const Decoder> decoder = Decoder::Open(file.path().string(), {});
  return decoder;
}

class Planted : public Hook {
 public:
  explicit Planted(int64_t tokens) : tokens_(tokens) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kResidPost) return {};
    if (point.layer == 0) ++runs;
    return {HookAccess::kWrite, {0, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.shape[1]; ++row) {
      const int64_t position = view.first_row + row;
      const auto noise = static_cast<float>(random_.Below(2001)) / 1000.0f - 1.0f;
      view.Set(0, row, kRising, 0, std::sqrt(static_cast<float>(position)));
      view.Set(0, row, kNoise, 0, noise);
      view.Set(0, row, kStep, 0, 2 * position < tokens_ ? -1.0f : 1.0f);
    }
  }
  int64_t runs = 0;

 private:
  int64_t tokens_;
  SplitMix64 random_{9};
};

ChannelSearchOptions SmallSearch() {
  ChannelSearchOptions options = OptionsOf(SearchVariant::kPaper, kBlocks);
  options.states.prompts = 4;
  options.states.tokens = 300;
  options.trend_skip = 0;
  options.smoothness_skip = 20;
  return options;
}

HiddenSumsRun SumsRun(const ChannelSearchOptions& options, Hook* hook) {
  return {*TinyDecoder(), options.states, "", "{}", {hook}};
}

TEST(ChannelSearch, ExaminedLayersAreThoseOfPaperAndCode) {
  const ChannelSearchOptions paper = OptionsOf(SearchVariant::kPaper, 30);
  EXPECT_EQ(paper.states.layers.size(), 27u);
  EXPECT_EQ(paper.states.layers.front(), 2);
  EXPECT_EQ(paper.states.layers.back(), 28);
  EXPECT_EQ(paper.threshold, 7);
  EXPECT_EQ(paper.trend_skip, 100);
  EXPECT_EQ(paper.smoothing_window, 11);
  const ChannelSearchOptions code = OptionsOf(SearchVariant::kCode, 30);
  EXPECT_EQ(code.states.layers, paper.states.layers);
  EXPECT_EQ(code.trend_skip, 300);
  EXPECT_EQ(code.smoothing_window, 10);
  // For an odd number of layers, because the public code counts the embeddings as a layer.
  const ChannelSearchOptions odd = OptionsOf(SearchVariant::kCode, 27);
  EXPECT_EQ(odd.states.layers.front(), 1);
  EXPECT_EQ(odd.states.layers.back(), 25);
  EXPECT_EQ(odd.threshold, 7);
}

TEST(ChannelSearch, RandomTextDependsOnSeedAndPromptAlone) {
  const Tokenizer& tokenizer = TinyDecoder()->tokenizer();
  const auto ids = RandomTextIds(tokenizer, 1, 0, 200);
  EXPECT_EQ(ids.size(), 200u);
  EXPECT_EQ(ids, RandomTextIds(tokenizer, 1, 0, 200));
  EXPECT_NE(ids, RandomTextIds(tokenizer, 1, 1, 200));
  EXPECT_NE(ids, RandomTextIds(tokenizer, 2, 0, 200));
  // Tokens are bytes, except "ab" and "abc"; each of the 63 characters occurs.
  const auto many = RandomTextIds(tokenizer, 1, 0, 5000);
  const std::set<int32_t> different(many.begin(), many.end());
  EXPECT_GE(different.size(), 63u);
  EXPECT_LE(different.size(), 65u);
}

TEST(ChannelSearch, FindsThePlantedChannelFirst) {
  const ChannelSearchOptions options = SmallSearch();
  Planted planted(options.states.tokens);
  const HiddenSums sums = SumHiddenStates(SumsRun(options, &planted), {});
  EXPECT_EQ(planted.runs, 4);
  // The averaged values are those that the hook wrote.
  EXPECT_NEAR(sums.Series(5, kRising, 100).front(), 10, 1e-6);
  const std::vector<ChannelScore> scores = ScoreChannels(sums, options, {});
  const std::vector<ChannelScore> ranked = RankChannels(scores, options.ranking, 10);
  ASSERT_FALSE(ranked.empty());
  EXPECT_EQ(ranked.front().channel, kRising);
  EXPECT_EQ(ranked.front().trend, Trend::kRising);
  EXPECT_EQ(ranked.front().monotone_layers, static_cast<int64_t>(options.states.layers.size()));
  for (const int64_t channel : {kNoise, kStep}) {
    const ChannelScore& score = scores[static_cast<size_t>(channel)];
    EXPECT_LE(score.monotone_layers, options.threshold) << channel;
    EXPECT_TRUE(std::isnan(score.smoothness)) << channel;
  }
  const Record record = ChannelSearchRecord(sums, options, scores, 2);
  record.Check();
  EXPECT_EQ(record.FindAxis("position")->values.front(), 30);
  const auto& means = std::get<std::vector<float>>(record.FindArray("hidden_mean")->data);
  const auto& fits = std::get<std::vector<float>>(record.FindArray("cubic_fit")->data);
  EXPECT_NEAR(means[0], std::sqrt(30.0f), 1e-5);
  EXPECT_NEAR(fits[100], means[100], 0.2);
}

// Results of numpy and scipy by the paper's rule and the ablations of its Table 3
// (make_channel_search_golden.py).
TEST(ChannelSearch, RankingsAreNumpysUnderEveryRuleAndSmoothing) {
  const nlohmann::json golden = nlohmann::json::parse(
      std::ifstream(MIDSCOPE_TESTS "/probes/golden/channel_search_golden.json"));
  HiddenSums sums;
  sums.prompts = 1;
  for (const auto& layer : golden["values"]) {
    sums.layers.push_back(static_cast<int64_t>(sums.layers.size()));
    sums.positions = static_cast<int64_t>(layer.size());
    sums.channels = static_cast<int64_t>(layer[0].size());
    for (const auto& position : layer) {
      for (const double value : position) sums.sums.push_back(value);
    }
  }
  const int64_t top = golden["top"];
  for (const auto& expected : golden["cases"]) {
    SCOPED_TRACE(expected["ranking"].get<std::string>() + " " + expected["window"].dump());
    ChannelSearchOptions options;
    options.trend_skip = golden["trend_skip"];
    options.smoothness_skip = golden["smoothness_skip"];
    options.threshold = golden["threshold"];
    options.smoothing_window = expected["window"];
    options.ranking = FindRanking(expected["ranking"].get<std::string>()).ranking;
    EXPECT_EQ(NameOf(options.ranking).name, expected["ranking"].get<std::string>());
    const std::vector<ChannelScore> scores = ScoreChannels(sums, options, {});
    for (size_t channel = 0; channel < scores.size(); ++channel) {
      const ChannelScore& score = scores[channel];
      EXPECT_EQ(score.monotone_layers, expected["monotone_layers"][channel]) << channel;
      const int trend = score.trend == Trend::kRising ? 1 : score.trend == Trend::kFalling ? -1 : 0;
      EXPECT_EQ(trend, expected["trend"][channel]) << channel;
      const auto& smoothness = expected["smoothness"][channel];
      EXPECT_EQ(std::isnan(score.smoothness), smoothness.is_null()) << channel;
      if (smoothness.is_null()) continue;
      EXPECT_NEAR(score.smoothness / smoothness.get<double>(), 1, 1e-8);
    }
    std::vector<int64_t> ranked;
    for (const ChannelScore& score : RankChannels(scores, options.ranking, top)) {
      ranked.push_back(score.channel);
    }
    EXPECT_EQ(ranked, expected["ranked"].get<std::vector<int64_t>>());
    const Record record = ChannelSearchRecord(sums, options, scores, top);
    record.Check();
    EXPECT_EQ(std::get<std::string>(record.attributes.at("ranking")), expected["ranking"]);
  }
}

// Options that change numbers are in the plan, so that --resume rejects another value.
TEST(ChannelSearch, ThePlanHasEveryOption) {
  FindChannelsRun run;
  run.decoder = TinyDecoder();
  run.search = SmallSearch();
  run.validation = ValidationRequest{};
  run.validation->plan.task = "list:lines=4";
  run.validation->plan.layers = {false, {{0, 1}}};
  std::set<std::string> plans = {FindChannelsPlanJson(run)};
  const auto add = [&](const std::function<void(FindChannelsRun&)>& change) {
    FindChannelsRun other = run;
    change(other);
    EXPECT_TRUE(plans.insert(FindChannelsPlanJson(other)).second);
  };
  for (const RankingName& one : kRankings) {
    if (one.ranking == SearchRanking::kFull) continue;
    add([&](FindChannelsRun& other) { other.search.ranking = one.ranking; });
  }
  add([](FindChannelsRun& other) { other.search.threshold += 1; });
  add([](FindChannelsRun& other) { other.search.trend_skip = 7; });
  add([](FindChannelsRun& other) { other.search.smoothness_skip = 7; });
  add([](FindChannelsRun& other) { other.search.smoothing_window = 0; });
  add([](FindChannelsRun& other) { other.validation->plan.loss.per_token = true; });
  add([](FindChannelsRun& other) { other.validation->plan.loss.one_place = true; });
  add([](FindChannelsRun& other) { other.validation->plan.loss = kCodeLoss; });
}

TEST(ChannelSearch, AWindowThatSmoothsNothingIsRefused) {
  ChannelSearchOptions options = SmallSearch();
  for (const int64_t window : {0, 1, 5}) {
    options.smoothing_window = window;
    EXPECT_NO_THROW(CheckSearchOptions(options, TinyDecoder()->config())) << window;
  }
  options.smoothing_window = 3;
  EXPECT_THROW(CheckSearchOptions(options, TinyDecoder()->config()), Error);
}

TEST(ChannelSearch, ARecordWithoutCandidatesIsStillOne) {
  ChannelSearchOptions options = SmallSearch();
  options.threshold = 100;
  Planted planted(options.states.tokens);
  const HiddenSums sums = SumHiddenStates(SumsRun(options, &planted), {});
  const Record record = ChannelSearchRecord(sums, options, ScoreChannels(sums, options, {}), 5);
  record.Check();
  EXPECT_EQ(record.FindArray("ranked_channel"), nullptr);
}

TEST(ChannelSearch, GoesOnWhereItWasInterruptedAndComesOutTheSame) {
  const ChannelSearchOptions options = SmallSearch();
  const test::TemporaryFolder folder;
  HiddenSumsPlan plan = options.states;
  class Counting : public Hook {
   public:
    HookRequest Request(const HookPoint& point, const SequenceInfo&) override {
      if (point == HookPoint{HookSite::kResidPost, 0} && ++runs == stop_at) cancel = true;
      return {};
    }
    void OnActivation(HookView&) override {}
    int runs = 0;
    int stop_at = 3;
    std::atomic<bool> cancel = false;
  };
  const HiddenSums whole = SumHiddenStates({*TinyDecoder(), plan, "", "{}", {}}, {});
  Counting counting;
  JobContext context;
  context.cancel = &counting.cancel;
  const std::string file = (folder.path() / "sums").string();
  HiddenSumsRun run = {*TinyDecoder(), plan, file, R"({"seed":1})", {&counting}, 0.0};
  EXPECT_THROW(SumHiddenStates(run, context), Cancelled);
  EXPECT_EQ(counting.runs, 3);
  counting.stop_at = -1;
  counting.cancel = false;
  const HiddenSums resumed = SumHiddenStates(run, context);
  // All seven would run without a checkpoint; at least the first prompt was stored, perhaps the
  // second.
  EXPECT_LE(counting.runs, 6);
  EXPECT_EQ(resumed.sums, whole.sums);
  run.plan_json = R"({"seed":2})";
  EXPECT_THROW(SumHiddenStates(run, {}), Error);
}

TEST(ChannelSearch, RefusesPromptsThatAreTooShortOrTooLong) {
  ChannelSearchOptions options = OptionsOf(SearchVariant::kPaper, kBlocks);
  options.states.tokens = 210;
  EXPECT_THROW(CheckSearchOptions(options, TinyDecoder()->config()), Error);
  options.states.tokens = 1025;
  EXPECT_THROW(CheckSearchOptions(options, TinyDecoder()->config()), Error);
  options.states.tokens = 1024;
  CheckSearchOptions(options, TinyDecoder()->config());
}

TEST(FindChannels, ValidatesCandidatesAndControlsOnOneTraceAnExample) {
  FindChannelsRun run;
  run.decoder = TinyDecoder();
  run.search = SmallSearch();
  Planted planted(run.search.states.tokens);
  run.hooks = {&planted};
  run.top = 2;
  ValidationRequest validation;
  validation.plan.task = "kv:pairs=2";
  validation.plan.examples = 3;
  validation.plan.places = {1, 2};
  validation.plan.layers = {false, {{3, 8}}};
  validation.factors = {0, -1};
  validation.control = true;
  run.validation = validation;
  const std::vector<Record> records = FindChannels(run, {});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].name, "channel_search");
  const Record& validated = records[1];
  validated.Check();
  EXPECT_EQ(validated.FindAxis("setting")->size, 1 + 2 * 2 * 2);
  EXPECT_EQ(validated.FindAxis("setting")->labels[2], "channel(3, factor=-1, layers=3-8)");
  // The losses equal the means that the sweep computes.
  const auto& means = std::get<std::vector<double>>(records[2].FindArray("answer_nll")->data);
  const auto& places = std::get<std::vector<double>>(validated.FindArray("place_loss")->data);
  EXPECT_EQ(means, places);
  const auto& loss = std::get<std::vector<double>>(validated.FindArray("loss")->data);
  EXPECT_NEAR(loss[2], (places[4] + places[5]) / 2, 1e-9);
  EXPECT_NE(loss[0], loss[2]);
}

TEST(PositionAwareness, OfHeadsWhoseAttentionIsKnown) {
  // The keys of key-value head 0 point along the first dimension at positions up to 149; those of
  // head 1 at every seventh position. The heads' queries point along it, against it, along it, and
  // nowhere.
  constexpr int64_t kTokens = 200;
  class Known : public Hook {
   public:
    HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
      const bool wanted = point.site == HookSite::kQuery || point.site == HookSite::kKey;
      return wanted ? HookRequest{HookAccess::kWrite, {0, sequence.rows}} : HookRequest{};
    }
    void OnActivation(HookView& view) override {
      constexpr float kLooks[] = {1, -1, 1, 0};
      for (int64_t row = 0; row < view.shape[1]; ++row) {
        const int64_t position = view.first_row + row;
        for (int64_t head = 0; head < view.shape[2]; ++head) {
          float first =
              head == 0 ? (position < 150 ? 1.0f : 0.0f) : (position % 7 == 0 ? 1.0f : 0.0f);
          // The logits are 3: queries of 6 divided by sqrt(4).
          if (view.point.site == HookSite::kQuery) first = 6 * kLooks[head];
          for (int64_t i = 0; i < view.shape[3]; ++i) view.Set(0, row, head, i, i == 0 ? first : 0);
        }
      }
    }
  };
  const ModelConfig& config = TinyDecoder()->config();
  Known known;
  PositionAwareness scores(config, {kernels::ThresholdRule::kGreater});
  RunRequest request;
  const auto ids = RandomTextIds(TinyDecoder()->tokenizer(), 4, 0, kTokens);
  request.ids = ids;
  request.hooks = {&known, &scores};
  TinyDecoder()->RunOne(request, {});
  // Attention weights compared with 3/n: 150 keys with e^3 each are spread too thinly; of head 1,
  // which points away from these, the 50 others exceed it; 29 keys with e^3 are far above it;
  // uniform attention never exceeds it.
  const std::vector<float> expected = {0, 50.0f / kTokens, 29.0f / kTokens, 0};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    for (int64_t head = 0; head < config.heads; ++head) {
      EXPECT_FLOAT_EQ(scores.score()[static_cast<size_t>(layer * config.heads + head)],
                      expected[static_cast<size_t>(head)])
          << layer << " " << head;
    }
  }
}

}  // namespace
}  // namespace midscope
