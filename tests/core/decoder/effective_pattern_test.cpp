// SPDX-License-Identifier: MIT
// hook_effective_pattern equals what transformers' rule or scan gives for unit vectors as values
// (make_effective_golden.py), and is the same in runs on traces, in what-ifs and over several
// stored states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/trace.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using Rows = std::map<std::pair<int64_t, int64_t>, std::vector<float>>;  // of (layer, row)

class EffectiveHook : public Hook {
 public:
  explicit EffectiveHook(RowRange wanted, HookAccess access = HookAccess::kRead)
      : wanted_(wanted), access_(access) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo&) override {
    if (point.site != HookSite::kEffectivePattern) return {};
    return {access_, wanted_};
  }

  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.rows(); ++row) {
      std::vector<float>& to = rows[{view.point.layer, view.first_row + row}];
      ASSERT_TRUE(to.empty());
      for (int64_t head = 0; head < view.shape[1]; ++head) {
        for (int64_t key = 0; key < view.shape[3]; ++key) to.push_back(view.At(0, head, row, key));
      }
    }
  }

  Rows rows;

 private:
  RowRange wanted_;
  HookAccess access_;
};

TEST(EffectivePattern, IsThatOfTransformers) {
  std::ifstream file(MIDSCOPE_TESTS "/core/golden/effective_golden.json");
  const Json golden = Json::parse(file);
  for (const auto& [name, layers] : golden["models"].items()) {
    const auto decoder = Decoder::Open(test::TinyModelPath(name), {kernels::Dtype::kFloat32, 1});
    std::ifstream expected(test::TinyModelFolder(name) + "/expected.json");
    const auto ids = Json::parse(expected)["ids"].get<std::vector<int32_t>>();
    const auto tokens = std::ssize(ids);
    RunRequest request;
    request.ids = ids;
    EffectiveHook hook({0, tokens});
    request.hooks = {&hook};
    decoder->RunOne(request);
    size_t index = 0;
    for (int64_t layer = 0; layer < decoder->config().layers; ++layer) {
      if (!decoder->config().HasMixer(layer)) continue;
      const Json& of_layer = layers[index++];
      for (size_t i = 0; i < golden["rows"].size(); ++i) {
        const auto row = golden["rows"][i].get<int64_t>();
        const std::vector<float>& found = hook.rows.at({layer, row});
        const Json& heads = of_layer[i];
        ASSERT_EQ(std::ssize(found), std::ssize(heads) * (row + 1)) << name;
        for (size_t at = 0; at < found.size(); ++at) {
          const auto key = at % static_cast<size_t>(row + 1);
          const auto weight = heads[at / static_cast<size_t>(row + 1)][key].get<double>();
          EXPECT_NEAR(found[at], weight, 1e-5 * std::max(1.0, std::abs(weight)))
              << name << " layer " << layer << " row " << row;
        }
      }
    }
    EXPECT_EQ(index, layers.size()) << name;
  }
}

TEST(EffectivePattern, IsTheSameOnTracesAndInWhatIfs) {
  constexpr int64_t kTokens = kStateRows + 60;
  const test::TemporaryFolder folder(test::TinyModelFolder("qwen3-5"));
  test::ChangeConfig(folder, {{"max_position_embeddings", 4096}});
  const auto decoder = Decoder::Open(folder.path().string(), {kernels::Dtype::kFloat32, 1});
  const std::vector<int32_t> ids = test::SomeTinyIds(kTokens);
  const auto rows_of = [&](RunRequest request) {
    EffectiveHook hook({kTokens - 2, kTokens});
    request.hooks = {&hook};
    request.ids = ids;
    decoder->RunOne(request);
    return hook.rows;
  };
  const Rows whole = rows_of({});
  ASSERT_EQ(whole.size(), 4u);
  RunRequest request;
  const auto trace = decoder->MakeTrace(kTokens, /*residual=*/true);
  request.ids = std::span(ids).first(kTokens - 1);
  request.trace = trace.get();
  decoder->RunOne(request);
  EXPECT_EQ(rows_of(request), whole) << "after a part of the prompt";
  request.rerun = RunRequest::Rerun{.first_row = {kTokens, kTokens - 3, kTokens - 3, kTokens - 3}};
  const Rows again = rows_of(request);
  EXPECT_EQ(again.at({2, kTokens - 1}), whole.at({2, kTokens - 1})) << "run again";
}

TEST(EffectivePattern, CannotBeChanged) {
  const auto decoder = Decoder::Open(test::TinyModelPath("qwen3-5"), {});
  EffectiveHook hook({0, 3}, HookAccess::kWrite);
  const std::vector<int32_t> ids = {1, 2, 3};
  RunRequest request;
  request.ids = ids;
  request.hooks = {&hook};
  EXPECT_THAT(test::ErrorMessage([&] { decoder->RunOne(request); }),
              HasSubstr("Change hook_attn_out"));
}

}  // namespace
}  // namespace midscope
