// SPDX-License-Identifier: MIT
// Scaled channels, crops, moves, boosts, ablations and temperatures on the tiny models, compared
// with transformers' models with attention on whole matrices (make_edits_golden.py); for each
// model, what-if, chunked and token-by-token runs compared with full ones. Tolerances as in
// families_test: logits 1e-4 of the largest, attention 1e-5.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/golden_runs.h"

namespace midscope {
namespace {

using test::Difference;
using test::GoldenRun;
using test::kGoldenLogitTolerance;
using test::Largest;
using Json = nlohmann::json;

const test::GoldenFile& EditsGolden() {
  static const test::GoldenFile golden("edits_golden.json");
  return golden;
}

TEST(Edits, AreThoseOfThePlainComputation) {
  ASSERT_GE(EditsGolden()["cases"].size(), 80u);
  test::ExpectEveryCase(EditsGolden(), {"cpu"});
}

// The golden numbers of different settings differ by far more than the tolerance; those of one
// changed row in that row.
TEST(Edits, EachChangesSomething) {
  for (const Json& item : EditsGolden()["cases"]) {
    const std::string model = item["model"];
    const GoldenRun plain = EditsGolden().FullRun(model, "none");
    const GoldenRun changed = EditsGolden().FullRun(model, item["setting"]);
    EXPECT_GE(std::max(Difference(changed.result.Logits(39), plain.result.Logits(39)),
                       Difference(changed.result.Logits(42), plain.result.Logits(42))),
              20 * kGoldenLogitTolerance * Largest(plain.result.Logits(42)))
        << model << " " << item["setting"];
  }
}

// Each setting follows every other on one trace often enough to meet each kind of change.
TEST(Edits, WhatIfEqualsAFullRun) {
  for (const char* model : {"llama", "gemma2", "mpt"}) {
    std::vector<std::string> settings = {"none"};
    for (const Json& item : EditsGolden()["cases"]) {
      if (item["model"] != model) continue;
      settings.push_back(item["setting"]);
      const std::string setting = item["setting"];
      // A layer's channels have one choice of rows.
      if (setting.find("channel(") == std::string::npos)
        settings.push_back(setting + " + channel(3, factor=-1, change_value=yes)");
      if (settings.size() % 3 == 0) settings.push_back("none");
    }
    settings.insert(settings.end(),
                    {"ablate(L0H1, with=mean, rows=answer)", "none",
                     "ablate(L0H1, with=mean, rows=answer)", "boost(span=3:9, factor=2, layers=1)",
                     "boost(span=3:9, factor=0, layers=1) + temperature(L1H0, 3, rows=last)"});
    std::vector<Intervention> parsed;
    parsed.reserve(settings.size());
    for (const std::string& setting : settings) parsed.push_back(ParseIntervention(setting));
    test::ExpectWhatIfEqualsFullRuns(EditsGolden().Model(model), *EditsGolden().Model(model), model,
                                     EditsGolden().answer(), parsed);
  }
}

TEST(Edits, TokenByTokenEqualsAFullRun) { test::ExpectEveryCaseTokenByToken(EditsGolden()); }

TEST(Edits, MovesNeedRotaryPositions) {
  EXPECT_THROW(EditsGolden().FullRun("mpt", "move(span=10:17, to=shift:-8)"), Error);
}

// Heads that are brought to one temperature and ratio behave as the model whose logit scale is so.
TEST(Edits, AGroupIsAllHeadsThatReadAKeyHead) {
  const GoldenRun group = EditsGolden().FullRun("llama", "ablate(L1G1)");
  const GoldenRun heads = EditsGolden().FullRun("llama", "ablate([L1H2,L1H3])");
  EXPECT_EQ(group.result.logits, heads.result.logits);
}

// Rows that see nothing changed are equal to the last bit.
TEST(Edits, LeaveOtherRowsAlone) {
  const GoldenRun plain = EditsGolden().FullRun("llama", "none");
  const auto same_until = [&](const std::string& setting) {
    return test::FirstDifferentRow(EditsGolden().FullRun("llama", setting), plain);
  };
  EXPECT_EQ(same_until("crop(span=10:17)"), 10);
  EXPECT_EQ(same_until("crop(span=0:9)"), 44);
  EXPECT_EQ(same_until("move(span=10:17, to=shift:-8)"), 39);
  EXPECT_EQ(same_until("boost(span=30:37, factor=2)"), 39);
  EXPECT_EQ(same_until("ablate(L0H1, rows=answer)"), 39);
  EXPECT_EQ(same_until("temperature(L0H1, 2, rows=last:3)"), 37);
}

}  // namespace
}  // namespace midscope
