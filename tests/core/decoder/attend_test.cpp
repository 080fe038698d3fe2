// SPDX-License-Identifier: MIT
// The edit `attend`: without windows, compared with transformers with sliding_window = None
// (tolerances as in families_test.cpp); with a window, compared with `streaming` without sinks,
// which head_edits_golden_test.cpp compares with transformers with a plain mask; what-ifs equal
// full runs.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/plan/attention_plan.h"
#include "core/plan/plan_changes.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::Difference;
using test::Largest;
using test::TinyModelFolder;
using Json = nlohmann::json;
using Values = std::vector<float>;

struct LastRow {
  Values logits;
  Values attention;
};

std::shared_ptr<const Decoder> Open(const std::string& name, bool window = true) {
  return Decoder::Open(TinyModelFolder(name), {kernels::Dtype::kFloat32, 1, window});
}

LastRow RunLast(const Decoder& decoder, const std::vector<int32_t>& ids,
                const std::string& setting) {
  LastQueryAttention attention(decoder.config());
  RunRequest request;
  request.ids = ids;
  request.intervention = ParseIntervention(setting);
  request.hooks = {&attention};
  Values logits = decoder.RunOne(request).logits;
  return {std::move(logits), attention.attention()};
}

void ExpectClose(const LastRow& actual, const LastRow& expected, const std::string& setting) {
  EXPECT_LE(Difference(actual.logits, expected.logits), 1e-4 * Largest(expected.logits)) << setting;
  EXPECT_LE(Difference(actual.attention, expected.attention), 1e-5) << setting;
}

void Flatten(const Json& json, Values& values) {
  if (!json.is_array()) return values.push_back(json.get<float>());
  for (const Json& item : json) Flatten(item, values);
}

TEST(Attend, AllTakesTheWindowAwayAsInTransformers) {
  std::ifstream file(MIDSCOPE_TESTS "/core/golden/window_off_golden.json");
  const Json golden = Json::parse(file);
  ASSERT_EQ(golden.size(), 3u);
  for (const auto& [name, expected] : golden.items()) {
    const LastRow all = RunLast(*Open(name), test::PromptIds(name), "attend(all)");
    LastRow theirs;
    Flatten(expected["logits"], theirs.logits);
    Flatten(expected["attention"], theirs.attention);
    ExpectClose(all, theirs, name);
    const LastRow off = RunLast(*Open(name, false), test::PromptIds(name), "none");
    EXPECT_EQ(all.logits, off.logits) << name;
  }
}

TEST(Attend, ANumberIsAWindow) {
  for (const char* name : {"llama", "qwen3", "mpt"}) {
    const auto decoder = Open(name);
    const std::vector<int32_t> ids = test::PromptIds(name);
    for (const char* layers : {"all", "1"}) {
      const std::string behind = std::string(", layers=") + layers + ")";
      ExpectClose(RunLast(*decoder, ids, "attend(7" + behind),
                  RunLast(*decoder, ids, "streaming(sink=0, recent=7" + behind), name + behind);
    }
    EXPECT_GT(Difference(RunLast(*decoder, ids, "attend(7)").logits,
                         RunLast(*decoder, ids, "none").logits),
              1e-3);
    // A window as long as the text hides nothing.
    EXPECT_EQ(RunLast(*decoder, ids, "attend(" + std::to_string(ids.size()) + ")").logits,
              RunLast(*decoder, ids, "none").logits);
  }
}

TEST(Attend, WhatIfEqualsAFullRun) {
  for (const char* name : {"llama", "mistral"}) {
    const auto decoder = Open(name);
    Prompt prompt;
    prompt.ids = test::PromptIds(name);
    WhatIf what_if(decoder, {prompt});
    for (const char* setting :
         {"none", "attend(9)", "attend(20, layers=1)", "attend(all)", "attend(9, layers=0) + pi(2)",
          "attend(all) + channel(3, factor=-1)", "attend(5) + ms-poe(first_layer=0)",
          "attend(all) + self-extend(group=2, window=6)", "attend(12) + boost(span=3:6, factor=3)",
          "none"}) {
      const WhatIfOutcome outcome = what_if.Evaluate(ParseIntervention(setting)).outcomes[0];
      ExpectClose({outcome.last_logits, outcome.last_query_attention},
                  RunLast(*decoder, prompt.ids, setting), std::string(name) + " " + setting);
    }
  }
}

// Rows before the window's end see the same keys with it and without.
TEST(Attend, WhatIfRunsTheRowsThatLoseKeys) {
  const auto decoder = Open("llama");
  const auto plans = [&](const std::string& setting) {
    return CompilePlans(ParseIntervention(setting), decoder->config(), 40);
  };
  EXPECT_EQ(FirstChangedRows(plans("none"), plans("attend(9, layers=1)"))[0], kNoRow);
  EXPECT_EQ(FirstChangedRows(plans("none"), plans("attend(9, layers=1)"))[1], 9);
  EXPECT_EQ(FirstChangedRows(plans("attend(12)"), plans("attend(9)"))[0], 9);
  EXPECT_EQ(FirstChangedRows(plans("attend(12)"), plans("attend(12)"))[0], kNoRow);
}

TEST(Attend, SchemesThatNeedAllKeysAreToldOfIt) {
  const auto decoder = Open("mistral");
  const std::vector<int32_t> ids = test::PromptIds("mistral");
  EXPECT_NO_THROW(RunLast(*decoder, ids, "attend(all) + infini(segment=8)"));
  try {
    RunLast(*decoder, ids, "self-extend(group=2, window=6)");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("attend(all)"), std::string::npos) << error.what();
  }
  EXPECT_THROW(RunLast(*Open("llama"), ids, "attend(4) + self-extend(group=2, window=6)"), Error);
}

}  // namespace
}  // namespace midscope
