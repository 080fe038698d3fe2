// SPDX-License-Identifier: MIT
// The probe jacobian_lens: with the identity it is logit_lens; with other matrices it decodes J h;
// the last layer gives the run's own logits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/formats/jacobian_lens.h"
#include "core/terms/intervention_text.h"
#include "core/tokenizer/prompt.h"
#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/engine/run_probe.h"
#include "probes/measure/builtin/layer_lens.h"
#include "probes/measure/builtin/probes.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kHidden = 36;

Prompt LlamaPrompt() {
  Prompt prompt;
  prompt.ids = test::PromptIds("llama");
  prompt.ids.resize(24);
  prompt.answer_ids = {7};
  return prompt;
}

std::vector<Record> MeasureLens(const std::vector<std::pair<std::string, std::string>>& settings) {
  const ProbeRegistry probes = BuiltInProbes();
  OptionSet options(probes.Options());
  for (const auto& [name, value] : settings) options.SetText(name, value);
  std::vector<Record> records =
      RunProbes(*test::TinyDecoder("llama"), LlamaPrompt(), {}, probes, options);
  for (const Record& record : records) record.Check();
  return records;
}

const Record& RecordNamed(const std::vector<Record>& records, const std::string& name) {
  for (const Record& record : records) {
    if (record.name == name) return record;
  }
  throw std::logic_error("no record " + name);
}

std::string LensOf(const test::TemporaryFolder& folder, float diagonal, float beside) {
  JacobianLens lens{kHidden, 3, {{0, std::vector<float>(kHidden * kHidden)}}};
  for (size_t i = 0; i < kHidden; ++i) {
    lens.matrices[0][i * kHidden + i] = diagonal;
    lens.matrices[0][i * kHidden + (i + 1) % kHidden] = beside;
  }
  WriteJacobianLens(folder.path() / "lens", lens, "");
  return (folder.path() / "lens").string();
}

TEST(JacobianLensProbe, WithTheIdentityIsTheLogitLens) {
  const test::TemporaryFolder folder;
  const auto records = MeasureLens({{"probes", "logit_lens,next_tokens,jacobian_lens"},
                                    {"lens-file", LensOf(folder, 1, 0)},
                                    {"lens-at", "3-5,23"},
                                    {"lens-top", "4"}});
  const Record& jacobian = RecordNamed(records, "jacobian_lens");
  const Record& logit = RecordNamed(records, "logit_lens");
  EXPECT_EQ(std::get<int64_t>(jacobian.attributes.at("lens_prompts")), 3);
  ASSERT_EQ(jacobian.arrays.size(), logit.arrays.size());
  for (size_t i = 0; i < logit.arrays.size(); ++i) {
    EXPECT_EQ(jacobian.arrays[i].name, logit.arrays[i].name);
    EXPECT_EQ(jacobian.arrays[i].data, logit.arrays[i].data) << logit.arrays[i].name;
  }
  // The last row is one of the chosen ones, and the last layer gives the run's logits.
  const auto& rows = ArrayValues<int64_t>(jacobian, "row_answer_rank");
  const auto& last = ArrayValues<int64_t>(jacobian, "answer_rank");
  EXPECT_THAT(last, ElementsAre(rows[3], rows[7]));
  const Record& next = RecordNamed(records, "next_tokens");
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ArrayValues<int64_t>(jacobian, "lens_token_ids")[4 + rank],
              ArrayValues<int64_t>(next, "next_token_ids")[rank]);
    EXPECT_NEAR(ArrayValues<float>(jacobian, "lens_logit")[4 + rank],
                ArrayValues<float>(next, "logit")[rank], 1e-5);
  }
}

TEST(JacobianLensProbe, DecodesTheTransportedRow) {
  const test::TemporaryFolder folder;
  const auto records = MeasureLens({{"residual-rows", "1"},
                                    {"lens-file", LensOf(folder, 0.5F, -2)},
                                    {"probes", "residual_rows,jacobian_lens"}});
  const auto& rows = ArrayValues<float>(RecordNamed(records, "residual_rows"), "residual");
  std::vector<float> transported(kHidden);
  for (size_t i = 0; i < kHidden; ++i)
    transported[i] = 0.5F * rows[i] - 2 * rows[(i + 1) % kHidden];
  const std::vector<float> logits = test::TinyDecoder("llama")->Unembed(transported);
  const Record& lens = RecordNamed(records, "jacobian_lens");
  const auto& ids = ArrayValues<int64_t>(lens, "lens_token_ids");
  for (size_t rank = 0; rank < 5; ++rank)
    EXPECT_NEAR(ArrayValues<float>(lens, "lens_logit")[rank],
                logits[static_cast<size_t>(ids[rank])], 1e-5);
  EXPECT_NEAR(ArrayValues<float>(lens, "answer_logit")[0], logits[7], 1e-5);
}

TEST(JacobianLensProbe, RefusesTheLensOfAnotherModel) {
  const test::TemporaryFolder folder;
  WriteJacobianLens(folder.path() / "lens", {2, 1, {{0, std::vector<float>(4)}}}, "");
  EXPECT_THAT(test::ErrorMessage([&] {
                MeasureLens({{"probes", "jacobian_lens"},
                             {"lens-file", (folder.path() / "lens").string()}});
              }),
              HasSubstr("its matrices are 2 x 2; the model's hidden size is 36"));
}

// The window sets an option by one field, though two probes have it.
TEST(JacobianLensProbe, SharesItsOptionsWithTheLogitLens) {
  const ProbeRegistry probes = BuiltInProbes();
  int found = 0;
  for (const ProbeOffer& offer : Offers(probes)) {
    for (const Parameter& option : offer.options) found += option.name == "lens-top" ? 1 : 0;
  }
  EXPECT_EQ(found, 1);
  OptionSet options(probes.Options());
  options.SetText("probes", "jacobian_lens");
  options.SetText("lens-top", "2");
  probes.RefuseUnusedOptions(options, probes.Selected(options));
  options.SetText("probes", "next_tokens");
  EXPECT_THAT(
      test::ErrorMessage([&] { probes.RefuseUnusedOptions(options, probes.Selected(options)); }),
      HasSubstr("it belongs to the probe logit_lens, which does not run"));
}

// Two samples at one place, with one and two rows: the lowest ranks are 4 and 1 in layer 0, 2 and 3
// in layer 1.
TEST(JacobianLensProbe, SummarisesTheBestRow) {
  const auto sample = [](const std::vector<int64_t>& positions, const std::vector<int64_t>& ranks) {
    Record record;
    record.name = "jacobian_lens";
    record.axes = {CountedAxis("layer", 2), ValuedAxis("position", positions)};
    record.arrays = {{"answer_rank", {"layer"}, std::vector<int64_t>{9, 0}, "", ""},
                     {"answer_log_probability", {"layer"}, std::vector<double>{-3, -1}, "nats", ""},
                     {"row_answer_rank", {"layer", "position"}, ranks, "", ""}};
    return record;
  };
  const Record found =
      LayerLensByPlace(StackRecords({sample({4}, {4, 2}), sample({4, 6}, {5, 1, 3, 8})},
                                    {CountedAxis("sample", 2), CountedAxis("place", 1)}));
  found.Check();
  EXPECT_EQ(found.name, "jacobian_lens_by_place");
  EXPECT_THAT(ArrayValues<double>(found, "mean_best_row_answer_rank"), ElementsAre(2.5, 2.5));
  EXPECT_THAT(ArrayValues<double>(found, "answer_first_share"), ElementsAre(0, 1));
}

}  // namespace
}  // namespace midscope
