// SPDX-License-Identifier: MIT
// Activations in views of some rows and heads are put together to one array; a callback gets and
// changes the requested rows and heads.
#include "probes/serve/capture_hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/core/support/error_message.h"
#include "tests/probes/serve/small_engine.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using testing::SmallActivation;

constexpr SequenceInfo kSequence = {0, testing::kSmallRows, 4};

// A view of some rows and heads of z, [row, head, dimension] with 5 rows, 4 heads and 3 dimensions.
HookView PartOf(const SmallActivation& z, int64_t row, int64_t rows, int64_t head, int64_t heads) {
  HookView view = z.view;
  view.first_row = row;
  view.first_head = head;
  view.shape = {1, rows, heads, 3};
  view.data = const_cast<float*>(z.values.data()) + row * view.strides[1] + head * view.strides[2];
  return view;
}

TEST(CaptureHook, PutsRowsAndHeadsTogether) {
  const ModelConfig config = testing::SmallConfig();
  const SmallActivation z("blocks.1.attn.hook_z", 4, {1, 5, 4, 3});
  const Message part = {{"point", "blocks.1.attn.hook_z"}, {"rows", {1, 4}}, {"heads", {0, 3}}};
  CaptureHook hook({ReadCapturePart(part, config)}, config);
  const HookRequest request = hook.Request(z.view.point, kSequence);
  EXPECT_EQ(request.rows.first, 1);
  EXPECT_EQ(request.rows.last, 5);
  for (const int64_t row : {1, 3}) {
    for (const int64_t head : {0, 2}) {
      HookView view = PartOf(z, row, 2, head, 2);
      hook.OnActivation(view);
    }
  }
  const std::vector<Record> records = std::move(hook).Records();
  EXPECT_THAT(records[0].arrays[0].axes, ElementsAre("position", "head", "dimension"));
  EXPECT_THAT(std::get<std::vector<float>>(records[0].arrays[0].data),
              ElementsAre(12, 13, 14, 21, 22, 23, 48, 49, 50, 57, 58, 59));
  EXPECT_THAT(records[0].axes[0].values, ElementsAre(1, 4));
  EXPECT_THAT(records[0].axes[1].values, ElementsAre(0, 3));
}

TEST(CaptureHook, PatternsBeginWithTheHead) {
  const ModelConfig config = testing::SmallConfig();
  SmallActivation pattern("blocks.0.attn.hook_pattern", 4, {1, 4, 5, 5});
  const Message part = {
      {"point", "blocks.0.attn.hook_pattern"}, {"rows", {0, 2}}, {"heads", {1, 3}}};
  CaptureHook hook({ReadCapturePart(part, config)}, config);
  hook.Request(pattern.view.point, kSequence);
  hook.OnActivation(pattern.view);
  const std::vector<Record> records = std::move(hook).Records();
  const auto& values = std::get<std::vector<float>>(records[0].arrays[0].data);
  ASSERT_EQ(values.size(), 20U);
  EXPECT_EQ(values[0], 25);   // head 1, query 0
  EXPECT_EQ(values[5], 35);   // head 1, query 2
  EXPECT_EQ(values[10], 75);  // head 3, query 0
  EXPECT_EQ(values[15], 85);
}

TEST(CaptureHook, TakesSharedKeysWhereTheyAreMade) {
  ModelConfig config = testing::SmallConfig();
  config.attention.resize(static_cast<size_t>(config.layers));
  config.attention[1].keys_of = 0;
  EXPECT_THAT(test::ErrorMessage([&] { ReadCapturePart(Message("blocks.1.attn.hook_k"), config); }),
              ::testing::HasSubstr("reads the keys and values of an earlier one. Take layer 0"));
  EXPECT_EQ(test::ErrorMessage([&] { ReadCapturePart(Message("blocks.1.attn.hook_q"), config); }),
            "");
}

TEST(CaptureHook, TakesNothingOfHeadsWhereNoneAttends) {
  ModelConfig config = testing::SmallConfig();
  config.attention.resize(static_cast<size_t>(config.layers));
  config.attention[1].mixing = RowMixing::kMixer;
  config.convolution.taps = 3;
  const auto error = [&](const char* name) {
    return test::ErrorMessage([&] { ReadCapturePart(Message(name), config); });
  };
  for (const char* point : {"q", "k", "v", "rot_k", "pattern", "z"}) {
    const std::string name = std::string("blocks.1.attn.hook_") + point;
    EXPECT_THAT(error(name.c_str()), ::testing::HasSubstr("no attention: a gated convolution"))
        << name;
  }
  EXPECT_EQ(error("blocks.1.hook_attn_out"), "");
  EXPECT_EQ(error("blocks.0.attn.hook_z"), "");
  const char* effective = "blocks.1.attn.hook_effective_pattern";
  EXPECT_THAT(error(effective), ::testing::HasSubstr("reads a few tokens, by fixed weights"));
  config.convolution = {};
  config.state_space = {.heads = 6, .head_dim = 2, .groups = 1, .state_dim = 4, .taps = 3};
  EXPECT_EQ(error(effective), "");
  EXPECT_THAT(error("blocks.1.attn.hook_pattern"), ::testing::HasSubstr("hook_effective_pattern"));
  EXPECT_THAT(error("blocks.0.attn.hook_effective_pattern"),
              ::testing::HasSubstr("has no mixer. Take blocks.0.attn.hook_pattern"));
  const Message last_head = {{"point", effective}, {"heads", {5}}};
  EXPECT_EQ(ReadCapturePart(last_head, config).heads, (std::vector<int64_t>{5}));
  config.attention[1].mixing = RowMixing::kBoth;
  EXPECT_EQ(error(effective), "");
  EXPECT_EQ(error("blocks.1.attn.hook_pattern"), "");
  EXPECT_EQ(error("blocks.1.attn.hook_z"), "");
}

TEST(CaptureHook, TakesNothingWithinTheHalfThatALayerDoesNotHave) {
  ModelConfig config = testing::SmallConfig();
  config.attention.resize(static_cast<size_t>(config.layers));
  config.attention[0].halves = LayerHalves::kMixer;
  config.attention[1].halves = LayerHalves::kMlp;
  config.state_space = {.heads = 6, .head_dim = 2, .groups = 1, .state_dim = 4, .taps = 3};
  const auto error = [&](const char* name) {
    return test::ErrorMessage([&] { ReadCapturePart(Message(name), config); });
  };
  for (const char* name : {"ln1.hook_normalized", "attn.hook_z", "attn.hook_effective_pattern"}) {
    EXPECT_THAT(error((std::string("blocks.1.") + name).c_str()),
                ::testing::HasSubstr("is an MLP alone"));
  }
  for (const char* name : {"ln2.hook_normalized", "mlp.hook_post", "mlp.hook_expert_weights"}) {
    EXPECT_THAT(error((std::string("blocks.0.") + name).c_str()),
                ::testing::HasSubstr("has no MLP"));
  }
  for (const char* layer : {"blocks.0.", "blocks.1."}) {
    for (const char* name : {"hook_attn_out", "hook_resid_mid", "hook_mlp_out"})
      EXPECT_EQ(error((std::string(layer) + name).c_str()), "");
  }
}

TEST(CallbackHook, ChangesTheRequestedRowsAndHeads) {
  const ModelConfig config = testing::SmallConfig();
  SmallActivation z("blocks.1.attn.hook_z", 4, {1, 5, 4, 3});
  const Message part = {{"point", "blocks.1.attn.hook_z"}, {"rows", "answer"}, {"heads", {2}}};
  Message question;
  const auto negate = [&](Message asked) {
    question = asked;
    Message array = UnpackMessage(PackMessage(asked["array"]));  // as from a client
    std::vector<uint8_t>& bytes = array["data"].get_binary();
    for (size_t i = 3; i < bytes.size(); i += sizeof(float)) bytes[i] ^= 0x80U;  // the sign
    return array;
  };
  CallbackHook hook(ReadCapturePart(part, config), negate);
  EXPECT_EQ(hook.Request(z.view.point, kSequence).access, HookAccess::kWrite);
  HookView view = PartOf(z, 3, 2, 2, 2);
  hook.OnActivation(view);
  EXPECT_EQ(question["first_row"], 3);
  EXPECT_EQ(question["array"]["shape"], Message({2, 1, 3}));
  for (int64_t i = 0; i < std::ssize(z.values); ++i) {
    const int64_t row = i / 12;
    const int64_t head = i / 3 % 4;
    EXPECT_EQ(z.values[static_cast<size_t>(i)], row >= 3 && head == 2 ? -i : i) << i;
  }
}

}  // namespace
}  // namespace midscope
