// SPDX-License-Identifier: MIT
// Activation patching compared with hooks on transformers' own modules (make_patch_golden.py), on
// tiny models, most with grouped key heads, one with ALiBi, and on the embedded model, with both
// kinds of operations; token-by-token runs compared with full ones. Tolerances as in families_test:
// logits 1e-4 of the largest, attention 1e-5.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/intervention/passage.h"
#include "core/run/patch_sources.h"
#include "tests/core/support/embedded_decoder.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"

namespace midscope {
namespace {

using test::Describe;
using test::Difference;
using test::GoldenRun;
using test::kGoldenLogitTolerance;
using test::Largest;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const test::GoldenFile& PatchGolden() {
  static const test::GoldenFile golden("patch_golden.json");
  return golden;
}

std::shared_ptr<const Decoder> Model(const std::string& name,
                                     const std::string& placement = "cpu") {
  return name == "embedded" ? testing::EmbeddedDecoder() : PatchGolden().Model(name, placement);
}

// The prompt with its passages, or (of the source) the same tokens in reverse with theirs.
Prompt PromptOf(const std::string& model, bool source = false) {
  Prompt prompt;
  prompt.ids = model == "embedded" ? PatchGolden()["embedded_ids"].get<std::vector<int32_t>>()
                                   : test::PromptIds(model);
  if (source) std::reverse(prompt.ids.begin(), prompt.ids.end());
  for (const auto& [name, rows] : PatchGolden()["passages"].items()) {
    const Json& tokens = rows[source ? "source" : "target"];
    prompt.spans.push_back({name, 0, 0, tokens[0], tokens[1]});
  }
  return prompt;
}

Intervention Given(const Decoder& decoder, const std::string& model, const std::string& setting) {
  const Prompt prompt = PromptOf(model);
  PatchSources sources(decoder, {.named = {{"other", PromptOf(model, /*source=*/true)}}});
  return ResolvePassages(sources.Give(ParseIntervention(setting), prompt), prompt);
}

GoldenRun FullRun(const std::string& model, const std::string& setting,
                  const std::string& placement = "cpu") {
  const auto decoder = Model(model, placement);
  return test::RunInFull(*decoder, PromptOf(model).ids, PatchGolden().answer(),
                         Given(*decoder, model, setting));
}

TEST(Patch, IsThatOfTransformersWithHooks) {
  ASSERT_GE(PatchGolden()["cases"].size(), 70u);
  for (const char* placement : {"cpu", "cpu:portable"}) {
    for (const Json& item : PatchGolden()["cases"]) {
      const std::string model = item["model"];
      if (model == "embedded" && placement != std::string("cpu")) continue;
      Json frame = PatchGolden().json();
      frame["logit_step"] = item["logit_step"];
      test::ExpectGolden(FullRun(model, item["setting"], placement), frame, item,
                         Describe(item) + " " + placement);
    }
  }
}

// By far more than the tolerance.
TEST(Patch, EachChangesSomething) {
  for (const Json& item : PatchGolden()["cases"]) {
    const GoldenRun plain = FullRun(item["model"], "none");
    const GoldenRun changed = FullRun(item["model"], item["setting"]);
    EXPECT_GE(Difference(changed.result.logits, plain.result.logits),
              10 * kGoldenLogitTolerance * Largest(plain.result.Logits(39)))
        << Describe(item);
  }
}

TEST(Patch, TokenByTokenEqualsAFullRun) {
  for (const Json& item : PatchGolden()["cases"]) {
    const std::string model = item["model"];
    if (model == "embedded") continue;
    const Intervention given = Given(*Model(model), model, item["setting"]);
    test::ExpectStepsEqual(*Model(model), model, PatchGolden().answer(), given, {},
                           FullRun(model, item["setting"]), Describe(item));
  }
}

// Values of the run itself leave it as it is.
TEST(Patch, FromTheSameRunChangesNothing) {
  for (const char* model : {"llama", "gemma2", "mpt", "embedded"}) {
    const GoldenRun plain = FullRun(model, "none");
    for (const char* what : {"resid", "q", "k", "v", "z", "attn_out", "mlp_out"}) {
      const GoldenRun same =
          FullRun(model, std::string("patch(from=setting:none, span=all, what=") + what + ")");
      EXPECT_LE(Difference(same.result.logits, plain.result.logits),
                1e-6 * Largest(plain.result.logits))
          << model << " " << what;
    }
  }
}

TEST(Patch, OfAllRowsGivesTheSource) {
  for (const char* model : {"llama", "gemma2", "mpt", "embedded"}) {
    const auto decoder = Model(model);
    const GoldenRun source =
        test::RunInFull(*decoder, PromptOf(model, /*source=*/true).ids, {}, {});
    const GoldenRun patched =
        test::RunInFull(*decoder, PromptOf(model).ids, {},
                        Given(*decoder, model, "patch(from=source:other, what=resid, span=all)"));
    EXPECT_LE(Difference(patched.result.logits, source.result.logits),
              1e-6 * Largest(source.result.logits))
        << model;
  }
}

// Rows that a run under another setting changes take its values.
TEST(Patch, TakesValuesOfASetting) {
  const GoldenRun other = FullRun("llama", "pi(1.5)");
  const GoldenRun patched =
      FullRun("llama", "patch(from=\"setting:pi(1.5)\", what=resid, span=all, layers=1)");
  EXPECT_LE(Difference(patched.result.Logits(39), other.result.Logits(39)),
            1e-6 * Largest(other.result.Logits(39)));
}

TEST(Patch, RefusesWhatItCannotResolve) {
  const auto message = [](const std::string& setting) {
    return test::ErrorMessage([&] { FullRun("llama", setting); });
  };
  EXPECT_THAT(message("patch(from=place:3, span=last)"), HasSubstr("not a task's"));
  EXPECT_THAT(message("patch(from=source:else, span=last)"), HasSubstr("There are: other"));
  EXPECT_THAT(message("patch(from=\"setting:patch(from=place:1, span=last)\", span=last)"),
              HasSubstr("cannot itself"));
  EXPECT_THAT(message("patch(from=source:other, span=longer)"), HasSubstr("align=end"));
  EXPECT_THAT(message("patch(from=source:other, span=gold)"), HasSubstr("no passage"));
  EXPECT_THAT(message("patch(from=source:other, span=last, heads=L0H1)"),
              HasSubstr("resid belongs to no head"));
  EXPECT_THAT(message("patch(from=elsewhere, span=last)"), HasSubstr("place:1"));
  EXPECT_THAT(message("patch(from=place:, span=last)"), HasSubstr("a value is missing after"));
  EXPECT_THAT(message("patch(from=place:1, span=answer)"), HasSubstr("no answer rows"));
  // The source has not been run.
  const Prompt prompt = PromptOf("llama");
  EXPECT_THAT(test::ErrorMessage([&] {
                test::RunInFull(
                    *Model("llama"), prompt.ids, {},
                    ResolvePassages(ParseIntervention("patch(from=place:1, span=last)"), prompt));
              }),
              HasSubstr("does not run the source"));
}

}  // namespace
}  // namespace midscope
