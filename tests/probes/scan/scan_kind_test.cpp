// SPDX-License-Identifier: MIT
#include "probes/measure/scan/scan_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "tests/probes/support/open_model.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ModelConfig& Config() { return testing::EmbeddedModel()->config(); }

std::string MessageOf(const std::string& kind, const std::string& term, const ScanRange& range) {
  try {
    MakeScan(FindScanKind(kind), term, range, Config());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ScanKind, HeadsInTheOrderOfTheModel) {
  ScanRange range;
  range.layers = {false, {{3, 4}}};
  const Scan scan = MakeScan(FindScanKind("heads"), "", range, Config());
  ASSERT_EQ(scan.items.size(), 18u);
  EXPECT_EQ(scan.items[10], (ScanItem{"L4H1", "L4H1", {4, 1}}));
  const std::vector<std::string> settings = ScanSettings(scan);
  ASSERT_EQ(settings.size(), 19u);
  EXPECT_EQ(settings[0], "none");
  EXPECT_EQ(settings[11], "ablate(L4H1, rows=answer)");
  EXPECT_EQ(MakeScan(FindScanKind("heads"), "", {}, Config()).items.size(), 270u);
}

TEST(ScanKind, EveryDefaultTermIsOneThatTheModelTakes) {
  for (const ScanKind& kind : ScanKinds()) {
    ScanRange range;
    range.channels = {100, 7};
    range.spans = {"gold"};
    const Scan scan = MakeScan(kind, "", range, Config());
    for (const ScanItem& item : scan.items) EXPECT_EQ(item.at.size(), kind.axes.size());
    for (const std::string& setting : ScanSettings(scan)) {
      EXPECT_NO_THROW(CompilePlans(WithAnyPassages(ParseIntervention(setting)), Config(), 64))
          << setting;
    }
  }
}

TEST(ScanKind, LayersWithoutAttentionHaveNoneToScan) {
  ModelConfig config = Config();
  config.attention.resize(static_cast<size_t>(config.layers));
  config.attention[1].mixing = RowMixing::kMixer;
  config.convolution.taps = 3;
  ScanRange range;
  range.layers = {false, {{0, 2}}};
  range.spans = {"gold"};
  for (const ScanKind& kind : ScanKinds()) {
    const Scan scan = MakeScan(kind, "", range, config);
    for (const std::string& setting : ScanSettings(scan)) {
      EXPECT_NO_THROW(CompilePlans(WithAnyPassages(ParseIntervention(setting)), config, 64))
          << setting;
    }
  }
  EXPECT_EQ(MakeScan(FindScanKind("layers"), "", range, config).items.size(), 2u);
  EXPECT_EQ(MakeScan(FindScanKind("layer_spans"), "", range, config).items.size(), 3u);
}

TEST(ScanKind, EveryPlaceholderIsReplaced) {
  ScanRange range;
  range.channels = {215, 100};
  const Scan scan =
      MakeScan(FindScanKind("channels"), "channel({channel}, factor=0) + channel(3, factor=1)",
               range, Config());
  EXPECT_THAT(ScanSettings(scan),
              ElementsAre("none", "channel(100, factor=0) + channel(3, factor=1)",
                          "channel(215, factor=0) + channel(3, factor=1)"));
}

TEST(ScanKind, RefusesWhatIsNotThere) {
  ScanRange nowhere;
  nowhere.layers = {false, {{40, 41}}};
  EXPECT_THAT(MessageOf("heads", "", nowhere), HasSubstr("layers 0 to 29"));
  EXPECT_THAT(MessageOf("heads", "ablate(L3H2)", {}), HasSubstr("it must contain {head}"));
  ScanRange beyond;
  beyond.channels = {576};
  EXPECT_THAT(MessageOf("channels", "", beyond), HasSubstr("channels 0 to 575"));
  ScanRange no_pair;
  no_pair.rotary_pairs = {32};
  EXPECT_THAT(MessageOf("rotary_pairs", "", no_pair), HasSubstr("rotary pairs 0 to 31"));
  EXPECT_THROW(FindScanKind("head"), Error);
}

}  // namespace
}  // namespace midscope
