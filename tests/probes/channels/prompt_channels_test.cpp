// SPDX-License-Identifier: MIT
// The channels of one prompt: the record equals the search's rule applied to the prompt's hidden
// states.
#include "probes/measure/channels/prompt_channels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/terms/intervention_text.h"
#include "probes/measure/statistics/position_trend.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

constexpr uint32_t kLayers = 12;

std::shared_ptr<const Decoder> SmallDecoder() {
  static const test::TemporaryFile file(test::TinyModel(kLayers, 1024).Bytes());
  static const std::shared_ptr<const Decoder> decoder = Decoder::Open(file.path().string(), {});
  return decoder;
}

Prompt RandomPrompt(int64_t tokens) {
  Prompt prompt;
  prompt.ids = RandomTextIds(SmallDecoder()->tokenizer(), 5, 0, tokens);
  return prompt;
}

template <typename Value>
const std::vector<Value>& Values(const Record& record, const char* array) {
  return std::get<std::vector<Value>>(record.FindArray(array)->data);
}

int64_t Whole(const Record& record, const char* name) {
  return std::get<int64_t>(record.attributes.at(name));
}

// Fits computed in this test from rows that it captures itself.
std::vector<int64_t> MonotoneLayers(const Prompt& prompt, const Intervention& intervention,
                                    int64_t skip) {
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  const int64_t hidden = SmallDecoder()->config().hidden;
  ResidualRows rows(SmallDecoder()->config(), tokens);
  RunRequest request;
  request.ids = prompt.ids;
  request.intervention = intervention;
  request.hooks = {&rows};
  SmallDecoder()->RunOne(request, {});
  const CubicFit fit(tokens - skip);
  std::vector<int64_t> counts;
  for (int64_t channel = 0; channel < hidden; ++channel) {
    int64_t rising = 0;
    int64_t falling = 0;
    for (int64_t layer = 2; layer <= kLayers - 2; ++layer) {
      std::vector<double> series;
      for (int64_t token = skip; token < tokens; ++token) {
        const int64_t row = layer * tokens + token;
        series.push_back(rows.values()[static_cast<size_t>(row * hidden + channel)]);
      }
      const Trend trend = fit.TrendOf(series);
      rising += trend == Trend::kRising ? 1 : 0;
      falling += trend == Trend::kFalling ? 1 : 0;
    }
    counts.push_back(std::max(rising, falling));
  }
  return counts;
}

TEST(PromptChannels, CountsLayersAsFitsOfThePromptsOwnStatesDo) {
  const Prompt prompt = RandomPrompt(120);
  const ChannelSearchOptions options = OptionsOf(SearchVariant::kPaper, kLayers);
  const Record plain = RankPromptChannels(*SmallDecoder(), prompt, {}, options, 4, {});
  EXPECT_EQ(plain.name, kPromptChannelsRecord);
  // A quarter of 120 positions, instead of 100 and 200 as in the search.
  EXPECT_EQ(Whole(plain, "trend_skip"), 30);
  EXPECT_EQ(Whole(plain, "smoothness_skip"), 30);
  EXPECT_EQ(Whole(plain, "prompts"), 1);
  EXPECT_EQ(Whole(plain, "tokens"), 120);
  EXPECT_EQ(Values<int64_t>(plain, "monotone_layers"), MonotoneLayers(prompt, {}, 30));
  // Under a setting, the hidden states differ.
  const Intervention scaled = ParseIntervention("channel(3, factor=4, layers=1-6, rows=all)");
  const Record changed = RankPromptChannels(*SmallDecoder(), prompt, scaled, options, 4, {});
  EXPECT_EQ(Values<int64_t>(changed, "monotone_layers"), MonotoneLayers(prompt, scaled, 30));
  EXPECT_NE(Values<int64_t>(changed, "monotone_layers"), Values<int64_t>(plain, "monotone_layers"));
}

TEST(PromptChannels, SkipsNoMoreThanTheSearchDoes) {
  const ChannelSearchOptions options = OptionsOf(SearchVariant::kPaper, kLayers);
  EXPECT_EQ(ForPrompt(options, 1000).trend_skip, 100);
  EXPECT_EQ(ForPrompt(options, 1000).smoothness_skip, 200);
  EXPECT_EQ(ForPrompt(options, 400).trend_skip, 100);
  EXPECT_EQ(ForPrompt(options, 400).smoothness_skip, 100);
  EXPECT_EQ(ForPrompt(options, 30).trend_skip, 7);
}

TEST(PromptChannels, RefusesAPromptThatIsTooShort) {
  const ChannelSearchOptions options = OptionsOf(SearchVariant::kPaper, kLayers);
  EXPECT_NO_THROW(ForPrompt(options, 29));
  try {
    ForPrompt(options, 28);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("its 28 tokens"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace midscope
