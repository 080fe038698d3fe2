// SPDX-License-Identifier: MIT
// Explicit position ids: compared with transformers with the same position_ids on every tiny model
// with rotary positions, and Self-Extend by ids compared with a plain computation
// (positions_golden.json, made by make_positions_golden.py); combined with every listed scheme and
// edit; on an existing trace and token by token, compared with full runs. Ids 0, 1, 2, ... equal
// the run without ids bit for bit. Tolerances as in families_test: logits 1e-4 of the largest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/text.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"
#include "core/run/generate.h"
#include "core/run/scoring.h"
#include "core/terms/terms.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using test::Difference;
using test::ErrorMessage;
using test::GoldenRun;
using test::kGoldenLogitTolerance;
using test::Largest;
using test::PromptIds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// The ids of the file reach beyond the context of some models.
const test::GoldenFile& PositionsGolden() {
  static const test::GoldenFile golden("positions_golden.json", {.beyond_context = true});
  return golden;
}

Intervention With(std::vector<double> ids, const std::string& setting = "none") {
  Intervention intervention = ParseIntervention(setting);
  GivenPositions given;
  given.file = "ids.txt";
  given.ids = std::move(ids);
  intervention.Add(TermOf(std::move(given)));
  return intervention;
}

Intervention GivenOther(Intervention setting, std::vector<double> ids) {
  setting.Remove<GivenPositions>();
  setting.Add(With(std::move(ids)).terms.front());
  return setting;
}

std::vector<double> Counted(size_t count, double step = 1, double first = 0) {
  std::vector<double> ids(count);
  for (size_t row = 0; row < count; ++row) ids[row] = first + static_cast<double>(row) * step;
  return ids;
}

// Position ids of 40 prompt tokens: with jumps, and a stretch at steps of one half.
std::vector<double> Jumping() {
  std::vector<double> ids = Counted(40);
  for (size_t row = 12; row < 40; ++row) ids[row] += 9;
  for (size_t row = 20; row < 26; ++row) ids[row] = 29 + 0.5 * static_cast<double>(row - 20);
  for (size_t row = 33; row < 40; ++row) ids[row] += 17;
  return ids;
}

RowChoice RowsNamed(const std::string& rows) {
  return PositionSchemeRows(ParseIntervention("pi(2, rows=" + rows + ")"));
}

Intervention PositionSetting(const Json& item) {
  Intervention setting = With(item["ids"].get<std::vector<double>>());
  if (item.contains("group")) setting.Add(TermOf(SelfExtend{item["group"], item["window"]}));
  if (item.contains("rows")) {
    const RowChoice rows = RowsNamed(item["rows"]);
    setting.Change<GivenPositions>([&rows](GivenPositions& given) { given.rows = rows; });
  }
  return setting;
}

void ExpectEqualsGolden(const Json& item, const std::string& placement) {
  const GoldenRun run = PositionsGolden().FullRun(item["model"], PositionSetting(item), placement);
  std::vector<float> logits;
  for (const auto row : PositionsGolden()["rows"].get<std::vector<int64_t>>()) {
    const auto all = run.result.Logits(row);
    for (size_t i = 0; i < all.size(); i += PositionsGolden()["logit_step"].get<size_t>())
      logits.push_back(all[i]);
  }
  const auto expected = item["logits"].get<std::vector<float>>();
  EXPECT_LE(Difference(logits, expected), kGoldenLogitTolerance * Largest(expected))
      << item["model"] << " " << PrintIntervention(PositionSetting(item)) << " " << placement;
}

TEST(Positions, EqualTransformersWithTheSameIds) {
  size_t with_ids = 0;
  for (const std::string& name : test::TinyModelNames()) {
    // Others are not opened by transformers as they are, or not for text alone.
    const bool others = name == "internlm" || name == "internlm2" || name == "gpt-oss-mxfp4" ||
                        name == "llama4-pictures";
    const bool folder = name.rfind("gguf-", 0) != 0 && !others;
    if (!folder) continue;
    const PositionKind kind = PositionsGolden().Model(name)->config().positions;
    with_ids += kind != PositionKind::kAlibi && kind != PositionKind::kNone ? 1 : 0;
  }
  std::map<std::string, int> models;
  for (const Json& item : PositionsGolden()["cases"]) {
    ++models[item["model"]];
    for (const char* placement : {"cpu", "cpu:portable"}) ExpectEqualsGolden(item, placement);
  }
  EXPECT_EQ(models.size(), with_ids);
}

// Far more than the tolerance.
TEST(Positions, ChangeTheLogits) {
  for (const Json& item : PositionsGolden()["cases"]) {
    const auto plain = PositionsGolden().FullRun(item["model"], "none");
    const auto changed = PositionsGolden().FullRun(item["model"], PositionSetting(item));
    EXPECT_GE(Difference(changed.result.Logits(39), plain.result.Logits(39)),
              20 * kGoldenLogitTolerance * Largest(plain.result.Logits(39)))
        << item["model"];
  }
}

TEST(Positions, OfTheRowsThemselvesAreNoneBitForBit) {
  for (const char* name : {"llama", "gemma3", "phi3", "smollm3"}) {
    const GoldenRun plain = PositionsGolden().FullRun(name, "none");
    const GoldenRun own = PositionsGolden().FullRun(name, With(Counted(40)));
    EXPECT_EQ(own.result.logits, plain.result.logits) << name;
    EXPECT_EQ(own.last_attention, plain.last_attention) << name;
  }
}

TEST(Positions, DividedAreInterpolation) {
  for (const char* name : {"llama", "gemma3", "qwen3", "gpt-neox"}) {
    // The answer's rows go on in whole steps, so only the prompt's compare.
    const GoldenRun divided = PositionsGolden().FullRun(name, With(Counted(40, 1 / 1.5)));
    const GoldenRun interpolated = PositionsGolden().FullRun(name, "pi(1.5)");
    const auto last = divided.result.Logits(39);
    EXPECT_LE(Difference(last, interpolated.result.Logits(39)), 1e-6 * Largest(last)) << name;
  }
}

// Rotation sees differences alone.
TEST(Positions, ShiftedAsAWholeChangeNothing) {
  for (const std::string setting : {"none", "pi(1.5)", "self-extend(group=3, window=7)",
                                    "base(500000)", "ms-poe(order=sequential, first_layer=0)"}) {
    const GoldenRun plain = PositionsGolden().FullRun("qwen3", setting);
    const GoldenRun shifted = PositionsGolden().FullRun("qwen3", With(Counted(40, 1, 12), setting));
    EXPECT_LE(Difference(shifted.result.logits, plain.result.logits),
              kGoldenLogitTolerance * Largest(plain.result.logits))
        << setting;
  }
}

// As the public code does: at later positions queries are larger, and keys look the same.
TEST(Positions, TheScaleOfQueriesGoesByIds) {
  const auto change = [](const std::string& setting) {
    const GoldenRun plain = PositionsGolden().FullRun("qwen3", setting);
    const GoldenRun shifted = PositionsGolden().FullRun("qwen3", With(Counted(40, 1, 16), setting));
    return Difference(shifted.result.logits, plain.result.logits) / Largest(plain.result.logits);
  };
  EXPECT_LE(change("base(500000)"), kGoldenLogitTolerance);
  EXPECT_GE(change("eabf(500000, context=16, first_layer=0)"), 20 * kGoldenLogitTolerance);
}

// A value of the scheme that fits the model.
Intervention ExampleOf(const TermType& type, const ModelConfig& config) {
  return type.sample ? type.sample(config) : ParseIntervention(type.small_example);
}

// Each beside every scheme of the list, on one trace after another.
TEST(Positions, GoWithEveryScheme) {
  const ModelConfig& config = PositionsGolden().Model("qwen3")->config();
  std::vector<Intervention> settings;
  for (const TermType& type : TermTypes()) {
    if (type.stage != TermStage::kPositions) continue;
    const std::string& name = type.name;
    Intervention setting = name == "none" ? Intervention() : ExampleOf(type, config);
    const GoldenRun plain = PositionsGolden().FullRun("qwen3", setting);
    settings.push_back(setting);
    setting = GivenOther(setting, Counted(40));
    EXPECT_EQ(PositionsGolden().FullRun("qwen3", setting).result.logits, plain.result.logits)
        << name;
    setting = GivenOther(setting, Jumping());
    const bool rotates = name != "nope" && name != "infini";
    EXPECT_GE(
        Difference(PositionsGolden().FullRun("qwen3", setting).result.logits, plain.result.logits),
        (rotates ? 1e-3 : 0) * Largest(plain.result.logits))
        << name;
    settings.push_back(setting);
  }
  test::ExpectWhatIfEqualsFullRuns(PositionsGolden().Model("qwen3"),
                                   *PositionsGolden().Model("qwen3"), "qwen3",
                                   PositionsGolden().answer(), settings);
}

Prompt PromptWithPieces() {
  Prompt prompt;
  prompt.ids = PromptIds("llama");
  for (const auto& [name, begin, end] :
       {std::tuple("pair 1", 3, 8), std::tuple("gold", 14, 18), std::tuple("pair 2", 14, 18)}) {
    PromptSpan span;
    span.name = name;
    span.token_begin = begin;
    span.token_end = end;
    prompt.spans.push_back(span);
  }
  return prompt;
}

TEST(Positions, GoWithEveryEdit) {
  std::vector<Intervention> settings = {With(Jumping())};
  for (const TermType& type : TermTypes()) {
    // Patches take a source run: what_if_patch_test.cpp has them beside position ids.
    if (type.stage == TermStage::kPositions || !type.apply) continue;
    if (type.name == "positions" || type.name == "patch") continue;
    const Intervention example = type.sample
                                     ? type.sample(PositionsGolden().Model("llama")->config())
                                     : ParseIntervention(type.small_example);
    const Intervention edit = ResolvePassages(example, PromptWithPieces());
    settings.push_back(edit);
    settings.push_back(edit);
    settings.back() = GivenOther(settings.back(), Jumping());
    settings.push_back(settings.back());
    settings.back() = GivenOther(settings.back(), Counted(40, 2));
  }
  test::ExpectWhatIfEqualsFullRuns(PositionsGolden().Model("llama"),
                                   *PositionsGolden().Model("llama"), "llama",
                                   PositionsGolden().answer(), settings);
}

// For every row a move changes the ids, by its shift or to those of the place it goes to.
TEST(Positions, MovesAreOnTop) {
  const Prompt prompt = PromptWithPieces();
  const auto check = [&](const std::string& move, const auto& change) {
    const Intervention moved = ResolvePassages(With(Jumping(), move), prompt);
    std::vector<double> ids = Jumping();
    for (size_t token = 14; token < 18; ++token) ids[token] = change(token);
    const GoldenRun expected = PositionsGolden().FullRun("llama", With(ids));
    EXPECT_LE(
        Difference(PositionsGolden().FullRun("llama", moved).result.logits, expected.result.logits),
        1e-6 * Largest(expected.result.logits))
        << move;
  };
  const std::vector<double> before = Jumping();
  check("move(span=gold, to=shift:-6, rows=all)", [&](size_t t) { return before[t] - 6; });
  check("move(span=gold, to=begin, rows=all)", [&](size_t t) { return before[t - 11]; });
  // The place's ids run from 29 on in steps of one half.
  check("move(span=14:18, to=shift:19, rows=all)", [&](size_t t) { return before[t] + 19; });
  EXPECT_THAT(ErrorMessage([&] {
                PositionsGolden().FullRun("llama", With(Counted(40, 0.5),
                                                        "move(span=14:18, "
                                                        "to=shift:-8)"));
              }),
              HasSubstr("tokens would be at positions -1 to 0.5"));
}

// Dynamic frequencies are those of a sequence that is as long as the largest id + 1.
TEST(Positions, DynamicSchemesLookAtTheLargestId) {
  ModelConfig config = PositionsGolden().Model("llama")->config();
  config.trained_context = 64;
  for (const std::string scheme : {"dynamic-ntk(2)", "dynamic-linear"}) {
    const auto plans = CompilePlans(With(Counted(40, 2.5), scheme), config, 40);
    const auto longer = CompilePlans(ParseIntervention(scheme), config, 98);  // 97.5
    const auto shorter = CompilePlans(ParseIntervention(scheme), config, 97);
    EXPECT_EQ(plans[0].inverse_frequency, longer[0].inverse_frequency) << scheme;
    EXPECT_EQ(plans[0].q_ratio, longer[0].q_ratio) << scheme;
    EXPECT_TRUE(plans[0].inverse_frequency != shorter[0].inverse_frequency ||
                plans[0].q_ratio != shorter[0].q_ratio)
        << scheme;
  }
}

TEST(Positions, AnswersGoOnFromTheLastId) {
  for (const std::string setting : {"none", "self-extend(group=3, window=7)", "dynamic-linear"}) {
    std::vector<double> ids = Jumping();
    const GoldenRun full = PositionsGolden().FullRun("llama", With(ids, setting));
    for (size_t i = 0; i < PositionsGolden().answer().size(); ++i) ids.push_back(ids.back() + 1);
    std::vector<int32_t> tokens = PromptIds("llama");
    for (const int32_t id : PositionsGolden().answer()) tokens.push_back(id);
    RunRequest request;
    request.ids = tokens;
    request.intervention = With(ids, setting);
    request.first_logit_row = 0;
    EXPECT_EQ(PositionsGolden().Model("llama")->RunOne(request).logits, full.result.logits)
        << setting;
    if (setting == "dynamic-linear") continue;  // each length has ratios of its own
    test::ExpectStepsEqual(*PositionsGolden().Model("llama"), "llama", PositionsGolden().answer(),
                           With(Jumping(), setting), {}, full, setting);
  }
}

// The greedy continuation, each token from a run in full.
std::vector<int32_t> Continuation(const Intervention& intervention, int64_t count) {
  std::vector<int32_t> ids = PromptIds("llama");
  std::vector<int32_t> made;
  for (int64_t i = 0; i < count; ++i) {
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = 40;
    request.intervention = intervention;
    const auto result = PositionsGolden().Model("llama")->RunOne(request);
    ids.push_back(TopTokens(result.Logits(static_cast<int64_t>(ids.size()) - 1), 1).front().id);
    made.push_back(ids.back());
  }
  return made;
}

TEST(Positions, GenerationEqualsRunsInFull) {
  const std::vector<int32_t> prompt = PromptIds("llama");
  for (const std::string setting : {"none", "self-extend(group=3, window=7)", "dynamic-ntk(2)"}) {
    const Intervention given = With(Jumping(), setting);
    GenerateOptions options;
    options.new_tokens = 6;
    options.stop_at_end = false;
    const std::vector<int32_t> expected = Continuation(given, 6);
    EXPECT_EQ(Generate(*PositionsGolden().Model("llama"), prompt, given, options, nullptr).ids,
              expected)
        << setting;
    GreedyRequest first;
    first.prompt = prompt;
    first.intervention = given;
    first.new_tokens = 6;
    GreedyRequest second = first;
    second.intervention = ParseIntervention(setting);
    const std::vector<GreedyRequest> requests = {first, second};
    const auto generated = GenerateGreedy(*PositionsGolden().Model("llama"), requests);
    EXPECT_EQ(generated[0].ids, expected) << setting;
    EXPECT_EQ(generated[1].ids, Continuation(second.intervention, 6)) << setting;
  }
}

TEST(Positions, RefuseWhatTheyCannotDo) {
  const auto message = [](const std::string& model, const Intervention& setting) {
    return ErrorMessage([&] { PositionsGolden().FullRun(model, setting); });
  };
  EXPECT_THAT(message("mpt", With(Counted(40, 2))),
              AllOf(HasSubstr("positions"), HasSubstr("ALiBi")));
  EXPECT_THAT(message("mpt", With(Counted(40))), HasSubstr("ALiBi"));
  EXPECT_THAT(message("llama", With(Counted(39, 2))),
              HasSubstr("ids.txt has 39 ids, the prompt has 40 tokens"));
  std::vector<double> falling = Counted(40);
  std::swap(falling[4], falling[9]);
  EXPECT_EQ(message("llama", With(falling)), "");
  EXPECT_THAT(message("llama", With(falling, "self-extend(group=2, window=4)")),
              HasSubstr("these ids fall"));
  const auto limited = Decoder::Open(test::TinyModelFolder("llama"), {kernels::Dtype::kFloat32, 1});
  const auto in_context = [&](const Intervention& setting) {
    return ErrorMessage([&] { test::RunInFull(*limited, "llama", {7}, setting); });
  };
  EXPECT_EQ(in_context(With(Counted(40, 3))), "");
  EXPECT_THAT(in_context(With(Counted(40, 4))), HasSubstr("reach 157"));
  EXPECT_EQ(in_context(With(Counted(40, 4), "pi(2)")), "");
  // The prompt's ids are held, the answer's are not.
  EXPECT_THAT(in_context(With(Counted(40, 1, 88))), HasSubstr("the ids of 41 tokens reach 128"));
}

}  // namespace
}  // namespace midscope
