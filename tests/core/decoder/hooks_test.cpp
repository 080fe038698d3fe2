// SPDX-License-Identifier: MIT
// Hook points: names, requests, the views that hooks receive, and the effect of a change on later
// layers.

#include "core/decoder/hooks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/decoder/captures.h"
#include "core/run/scoring.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/embedded_decoder.h"

namespace midscope {
namespace {

using test::Difference;

class Probe : public Hook {
 public:
  std::function<HookRequest(const HookPoint&, const SequenceInfo&)> asks;
  std::function<void(HookView&)> see;
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    return asks(point, sequence);
  }
  void OnActivation(HookView& view) override { see(view); }
};

RunResult RunWith(std::vector<Hook*> hooks, const std::vector<int32_t>& ids,
                  const std::string& setting = "none") {
  RunRequest request;
  request.ids = ids;
  request.hooks = std::move(hooks);
  request.intervention = ParseIntervention(setting);
  return testing::EmbeddedDecoder()->RunOne(request);
}

TEST(HookNames, RoundTripAndAliases) {
  for (const char* name : {"hook_embed", "blocks.0.hook_resid_pre", "blocks.12.attn.hook_pattern",
                           "blocks.3.ln1.hook_normalized", "blocks.29.hook_resid_post",
                           "blocks.7.mlp.hook_post", "ln_final.hook_normalized"}) {
    const auto point = ParseHookName(name);
    ASSERT_TRUE(point) << name;
    EXPECT_EQ(HookName(*point), name);
  }
  EXPECT_EQ(ParseHookName("blocks.4.hook_out"), (HookPoint{HookSite::kResidPost, 4}));
  EXPECT_EQ(ParseHookName("model.layers.4.self_attn"), (HookPoint{HookSite::kAttentionOut, 4}));
  for (const char* name :
       {"", "blocks.", "blocks.x.hook_resid_pre", "blocks.3", "blocks.3.hook_unknown",
        "blocks.-1.hook_resid_pre", "model.layers.3.mlp"}) {
    EXPECT_FALSE(ParseHookName(name)) << name;
  }
}

TEST(Hooks, OnlyWhatWasAskedForIsShown) {
  const auto ids = testing::SomeIds(*testing::EmbeddedDecoder(), 20);
  std::map<std::string, int64_t> rows_seen;
  Probe probe;
  probe.asks = [](const HookPoint& point, const SequenceInfo&) -> HookRequest {
    if (point == HookPoint{HookSite::kPattern, 3}) return {HookAccess::kRead, {17, 20}};
    if (point == HookPoint{HookSite::kResidPost, 5}) return {HookAccess::kRead, {4, 6}};
    return {};
  };
  probe.see = [&](HookView& view) {
    rows_seen[HookName(view.point)] += view.rows();
    if (view.IsPattern()) {
      for (int64_t row = 0; row < view.rows(); ++row) {
        for (int64_t head = 0; head < view.shape[1]; ++head) {
          double sum = 0;
          for (int64_t key = 0; key < view.shape[3]; ++key) {
            const float weight = view.At(0, head, row, key);
            if (key > view.first_row + row) {
              EXPECT_EQ(weight, 0.0f) << "a key after the query";
            }
            sum += weight;
          }
          EXPECT_NEAR(sum, 1.0, 1e-5);
        }
      }
    }
  };
  RunWith({&probe}, ids);
  EXPECT_EQ(rows_seen, (std::map<std::string, int64_t>{{"blocks.3.attn.hook_pattern", 3},
                                                       {"blocks.5.hook_resid_post", 2}}));
}

// The residual stream adds up: mid = pre + attention, post = mid + MLP.
TEST(Hooks, ResidualStreamAddsUp) {
  const auto ids = testing::SomeIds(*testing::EmbeddedDecoder(), 13);
  std::map<HookSite, std::vector<float>> seen;
  Probe probe;
  probe.asks = [](const HookPoint& point, const SequenceInfo& sequence) -> HookRequest {
    const bool wanted =
        point.layer == 6 &&
        (point.site == HookSite::kResidPre || point.site == HookSite::kAttentionOut ||
         point.site == HookSite::kResidMid || point.site == HookSite::kMlpOut ||
         point.site == HookSite::kResidPost);
    return wanted ? HookRequest{HookAccess::kRead, {0, sequence.rows}} : HookRequest{};
  };
  probe.see = [&](HookView& view) {
    for (int64_t row = 0; row < view.shape[1]; ++row) {
      for (int64_t i = 0; i < view.shape[2]; ++i)
        seen[view.point.site].push_back(view.At(0, row, i));
    }
  };
  RunWith({&probe}, ids);
  ASSERT_EQ(seen.size(), 5u);
  for (size_t i = 0; i < seen[HookSite::kResidPre].size(); ++i) {
    EXPECT_NEAR(seen[HookSite::kResidMid][i],
                seen[HookSite::kResidPre][i] + seen[HookSite::kAttentionOut][i], 1e-4);
    EXPECT_NEAR(seen[HookSite::kResidPost][i],
                seen[HookSite::kResidMid][i] + seen[HookSite::kMlpOut][i], 1e-4);
  }
}

// Scaling a channel of what q, k and v are projected from changes the logits; reading it does not.
TEST(Hooks, WritingChangesWhatFollowsAndReadingDoesNot) {
  const auto ids = testing::SomeIds(*testing::EmbeddedDecoder(), 16);
  const RunResult plain = RunWith({}, ids);
  for (const HookAccess access : {HookAccess::kRead, HookAccess::kWrite}) {
    Probe probe;
    probe.asks = [access](const HookPoint& point, const SequenceInfo& sequence) -> HookRequest {
      return point == HookPoint{HookSite::kNormalizedAttention, 10}
                 ? HookRequest{access, {0, sequence.rows}}
                 : HookRequest{};
    };
    probe.see = [access](HookView& view) {
      if (access == HookAccess::kRead) return;
      for (int64_t row = 0; row < view.shape[1]; ++row)
        view.Set(0, row, 100, 0, -view.At(0, row, 100));
    };
    const double difference = Difference(plain.logits, RunWith({&probe}, ids).logits);
    if (access == HookAccess::kRead) {
      EXPECT_EQ(difference, 0.0);
    } else {
      EXPECT_GT(difference, 1e-3);
    }
  }
}

// Rank-one channel scaling equals a recomputation: a hook that scales the channel in what q, k (and
// v) of all rows come from, with the clean v put back, is `rows=all` by another road.
TEST(Hooks, RankOneScalingEqualsRecomputation) {
  const auto ids = testing::SomeIds(*testing::EmbeddedDecoder(), 33);
  std::vector<float> clean_values;
  Probe reader;
  reader.asks = [](const HookPoint& point, const SequenceInfo& sequence) -> HookRequest {
    return point == HookPoint{HookSite::kValue, 12}
               ? HookRequest{HookAccess::kRead, {0, sequence.rows}}
               : HookRequest{};
  };
  const auto each = [](HookView& view, const std::function<void(int64_t, int64_t, int64_t)>& f) {
    for (int64_t row = 0; row < view.shape[1]; ++row) {
      for (int64_t head = 0; head < view.shape[2]; ++head) {
        for (int64_t i = 0; i < view.shape[3]; ++i) f(row, head, i);
      }
    }
  };
  reader.see = [&](HookView& view) {
    each(view,
         [&](int64_t r, int64_t h, int64_t i) { clean_values.push_back(view.At(0, r, h, i)); });
  };
  RunWith({&reader}, ids);

  Probe writer;
  writer.asks = [](const HookPoint& point, const SequenceInfo& sequence) -> HookRequest {
    const bool wanted = point == HookPoint{HookSite::kNormalizedAttention, 12} ||
                        point == HookPoint{HookSite::kValue, 12};
    return wanted ? HookRequest{HookAccess::kWrite, {0, sequence.rows}} : HookRequest{};
  };
  writer.see = [&](HookView& view) {
    if (view.point.site == HookSite::kValue) {
      size_t next = 0;
      each(view,
           [&](int64_t r, int64_t h, int64_t i) { view.Set(0, r, h, i, clean_values[next++]); });
    } else {
      for (int64_t row = 0; row < view.shape[1]; ++row)
        view.Set(0, row, 100, 0, -0.5f * view.At(0, row, 100));
    }
  };
  const RunResult recomputed = RunWith({&writer}, ids);
  const RunResult rank_one = RunWith({}, ids, "channel(100, factor=-0.5, layers=12, rows=all)");
  EXPECT_LE(Difference(recomputed.logits, rank_one.logits), 1e-3);
  EXPECT_GT(Difference(recomputed.logits, RunWith({}, ids).logits), 1e-2);
}

TEST(Hooks, ChangedPatternIsWhatValuesAreMixedBy) {
  const auto ids = testing::SomeIds(*testing::EmbeddedDecoder(), 40);
  // All attention of the last row of one head on the first token: z of that head and row is v of
  // the first token.
  std::vector<float> first_value;
  std::vector<float> z;
  Probe probe;
  probe.asks = [](const HookPoint& point, const SequenceInfo& sequence) -> HookRequest {
    if (point == HookPoint{HookSite::kPattern, 2})
      return {HookAccess::kWrite, {sequence.rows - 1, sequence.rows}};
    if (point == HookPoint{HookSite::kValue, 2}) return {HookAccess::kRead, {0, 1}};
    if (point == HookPoint{HookSite::kZ, 2})
      return {HookAccess::kRead, {sequence.rows - 1, sequence.rows}};
    return {};
  };
  probe.see = [&](HookView& view) {
    for (int64_t i = 0; i < 64; ++i) {
      if (view.point.site == HookSite::kValue) first_value.push_back(view.At(0, 0, 1, i));
      if (view.point.site == HookSite::kZ) z.push_back(view.At(0, 0, 4, i));
    }
    if (view.IsPattern()) {
      for (int64_t key = 0; key < view.shape[3]; ++key)
        view.Set(0, 4, 0, key, key == 0 ? 1.0f : 0.0f);
    }
  };
  RunWith({&probe}, ids);
  ASSERT_EQ(first_value.size(), z.size());
  for (size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(z[i], first_value[i], 1e-6);
}

}  // namespace
}  // namespace midscope
