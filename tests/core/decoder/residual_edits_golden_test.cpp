// SPDX-License-Identifier: MIT
// Vectors added to the residual stream, and channels set to a value, compared with transformers'
// models with hooks after their blocks (make_residual_edits_golden.py), on tiny models (three with
// grouped key heads, one with a parallel residual, one with ALiBi) and on the embedded model, with
// both kinds of operations; what-if and token-by-token runs compared with full ones. Tolerances as
// in families_test: logits 1e-4 of the largest, attention 1e-5.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/run/generate.h"
#include "core/run/what_if.h"
#include "tests/core/support/embedded_decoder.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::Describe;
using test::Difference;
using test::GoldenRun;
using test::kGoldenLogitTolerance;
using test::Largest;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kEmbedded = "embedded";

const test::GoldenFile& ResidualEditsGolden() {
  static const test::GoldenFile golden("residual_edits_golden.json");
  return golden;
}

std::string VectorOf(const std::string& model) {
  return MIDSCOPE_TESTS "/core/golden/control_vectors/" + model + ".gguf";
}

// The text with the model's control vector in place of VECTOR.
Intervention Setting(const std::string& model, std::string text) {
  for (size_t at = text.find("VECTOR"); at != std::string::npos; at = text.find("VECTOR"))
    text.replace(at, 6, '"' + VectorOf(model) + '"');
  return ParseIntervention(text);
}

GoldenRun EditedRun(const std::string& model, const std::string& setting,
                    const std::string& placement = "cpu") {
  return ResidualEditsGolden().FullRun(model, Setting(model, setting), placement);
}

std::vector<Json> TinyCases() {
  std::vector<Json> cases;
  for (const Json& item : ResidualEditsGolden()["cases"]) {
    if (item["model"] != kEmbedded) cases.push_back(item);
  }
  return cases;
}

TEST(ResidualEdits, AreThoseOfHooksAfterTheBlocks) {
  ASSERT_EQ(TinyCases().size(), 40u);
  for (const char* placement : {"cpu", "cpu:portable"}) {
    for (const Json& item : TinyCases()) {
      test::ExpectGolden(EditedRun(item["model"], item["setting"], placement),
                         ResidualEditsGolden().json(), item, Describe(item) + " " + placement);
    }
  }
}

TEST(ResidualEdits, OfTheEmbeddedModelToo) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = ResidualEditsGolden()["embedded_ids"].get<std::vector<int32_t>>();
  Json golden = ResidualEditsGolden().json();
  golden["logit_step"] = golden["embedded_logit_step"];
  size_t cases = 0;
  for (const Json& item : ResidualEditsGolden()["cases"]) {
    if (item["model"] != kEmbedded) continue;
    ++cases;
    const GoldenRun run = test::RunInFull(*decoder, ids, ResidualEditsGolden().answer(),
                                          Setting(kEmbedded, item["setting"]));
    test::ExpectGolden(run, golden, item, Describe(item));
  }
  EXPECT_EQ(cases, 8u);
}

// By far more than the tolerance.
TEST(ResidualEdits, EachChangesSomething) {
  for (const Json& item : TinyCases()) {
    const GoldenRun plain = EditedRun(item["model"], "none");
    const GoldenRun changed = EditedRun(item["model"], item["setting"]);
    EXPECT_GE(Difference(changed.result.Logits(42), plain.result.Logits(42)) +
                  Difference(changed.result.Logits(39), plain.result.Logits(39)),
              10 * kGoldenLogitTolerance * Largest(plain.result.Logits(39)))
        << Describe(item);
  }
}

// Each setting follows others on one trace, alone and with other terms.
TEST(ResidualEdits, WhatIfEqualsAFullRun) {
  const std::vector<std::string> with = {
      "channel(3, factor=-1, change_value=yes)",
      "ablate(L0H*, with=mean, rows=answer)",
      "boost(span=20:25, factor=2)",
      "crop(span=20:30, layers=0)",
      "ablate(L1H0, rows=last:9)",
  };
  for (const char* model : {"llama", "gemma2", "gpt-neox", "mpt"}) {
    std::vector<Intervention> settings = {{}};
    size_t turn = 0;
    for (const Json& item : TinyCases()) {
      if (item["model"] != model) continue;
      const std::string setting = item["setting"];
      settings.push_back(Setting(model, setting));
      for (int i = 0; i < 3; ++i)
        settings.push_back(Setting(model, setting + " + " + with[turn++ % with.size()]));
      if (model != std::string("mpt")) {
        settings.push_back(Setting(model, "pi(1.5, rows=last) + " + setting));
        settings.push_back(Setting(model, "ms-poe(max=1.7, layers=0-1) + " + setting));
      }
      if (settings.size() % 3 == 0) settings.emplace_back();
    }
    test::ExpectWhatIfEqualsFullRuns(ResidualEditsGolden().Model(model),
                                     *ResidualEditsGolden().Model(model), model,
                                     ResidualEditsGolden().answer(), settings);
  }
}

TEST(ResidualEdits, WhatIfEqualsAFullRunOfTheEmbeddedModel) {
  const auto decoder = testing::EmbeddedDecoder();
  Prompt prompt;
  prompt.ids = ResidualEditsGolden()["embedded_ids"].get<std::vector<int32_t>>();
  prompt.answer_ids = ResidualEditsGolden().answer();
  WhatIf on_a_trace(decoder, {prompt});
  on_a_trace.Evaluate({});
  for (const char* setting :
       {"vector(VECTOR, scale=2, rows=last)",
        "vector(VECTOR, scale=2, rows=last) + ms-poe(max=1.6)", "set(100, to=mean, layers=20)",
        "set(100, to=mean, layers=20) + ablate(L25H3, rows=last)",
        "set(100, to=mean, layers=20) + channel(507, factor=0, layers=8-25)"}) {
    WhatIf fresh(decoder, {prompt});
    const Intervention intervention = Setting(kEmbedded, setting);
    const auto full = fresh.Evaluate(intervention).outcomes[0];
    const auto outcome = on_a_trace.Evaluate(intervention).outcomes[0];
    EXPECT_LE(Difference(outcome.last_logits, full.last_logits),
              kGoldenLogitTolerance * Largest(full.last_logits))
        << setting;
    EXPECT_LE(Difference(outcome.last_query_attention, full.last_query_attention),
              test::kGoldenAttentionTolerance)
        << setting;
  }
}

TEST(ResidualEdits, TokenByTokenEqualsAFullRun) {
  for (const Json& item : TinyCases()) {
    const std::string model = item["model"];
    const std::string setting = item["setting"];
    test::ExpectStepsEqual(*ResidualEditsGolden().Model(model), model,
                           ResidualEditsGolden().answer(), Setting(model, setting), {},
                           EditedRun(model, setting), Describe(item));
  }
}

// Generation keeps no residual rows.
TEST(ResidualEdits, GeneratedTextFollowsTheFullRuns) {
  const auto decoder = ResidualEditsGolden().Model("llama");
  std::vector<int32_t> ids = test::PromptIds("llama");
  const auto prompt_tokens = static_cast<int64_t>(ids.size());
  const Intervention setting =
      Setting("llama", "vector(VECTOR, scale=2) + set(5, span=answer, to=mean)");
  const Generated generated =
      Generate(*decoder, ids, setting, {.new_tokens = 4, .stop_at_end = false}, {});
  for (const int32_t id : generated.ids) {
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = prompt_tokens;
    request.intervention = setting;
    const RunResult result = decoder->RunOne(request);
    EXPECT_EQ(TopTokens(result.Logits(static_cast<int64_t>(ids.size()) - 1), 1).front().id, id);
    ids.push_back(id);
  }
}

TEST(ResidualEdits, WhatIfRunsTheLayersAndRowsThatChange) {
  Prompt prompt;
  prompt.ids = test::PromptIds("llama");
  WhatIf what_if(ResidualEditsGolden().Model("llama"), {prompt});
  const auto work = [&](const std::string& setting) {
    what_if.Evaluate({});
    const WhatIfResult result = what_if.Evaluate(Setting("llama", setting));
    return std::pair(result.first_layer, result.first_row);
  };
  EXPECT_EQ(work("vector(VECTOR, rows=last)"), std::pair(int64_t{0}, int64_t{39}));
  EXPECT_EQ(work("vector(VECTOR, layers=1)"), std::pair(int64_t{1}, int64_t{0}));
  EXPECT_EQ(work("set(3, span=20:33, layers=1)"), std::pair(int64_t{1}, int64_t{20}));
  EXPECT_EQ(work("set(3, span=last, to=mean, layers=1)"), std::pair(int64_t{1}, int64_t{0}));
}

// A change below a mean is a change of the mean, and one above is not.
TEST(ResidualEdits, MeansAreTakenAnewWhereTheirRowsChange) {
  Prompt prompt;
  prompt.ids = test::PromptIds("llama");
  WhatIf what_if(ResidualEditsGolden().Model("llama"), {prompt});
  const std::string mean = "set(3, span=10:12, to=mean, layers=0)";
  const auto first_row = [&](const std::string& more) {
    what_if.Evaluate(ParseIntervention(mean));
    return what_if.Evaluate(ParseIntervention(mean + " + " + more)).first_row;
  };
  EXPECT_EQ(first_row("ablate(L0H0, rows=last)"), 0);
  EXPECT_EQ(first_row("ablate(L1H0, rows=last)"), 39);
}

TEST(ResidualEdits, RefuseWhatDoesNotFit) {
  const auto error = [](const std::string& model, const std::string& setting) {
    return test::ErrorMessage([&] { EditedRun(model, setting); });
  };
  EXPECT_THAT(error("llama", "set(100000)"), HasSubstr("the model has no such channel"));
  EXPECT_THAT(error("llama", "set(1, span=30:50)"), HasSubstr("the prompt has no tokens 30:50"));
  EXPECT_THAT(error("llama", "vector(VECTOR, layers=7)"), HasSubstr("leaves the model's layers"));
  EXPECT_THAT(error("llama", "vector(\"" + VectorOf(kEmbedded) + "\")"),
              HasSubstr("It was made for another model"));
}

}  // namespace
}  // namespace midscope
