// SPDX-License-Identifier: MIT
#include "probes/sweep/answer_judge.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/run/what_if.h"
#include "data/sweep/sweep_store.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/statistics.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/stored_result.h"

namespace midscope {
namespace {

constexpr const char* kGeneratedText = "generated_text";
constexpr size_t kScores = kJudgeScores.size();

template <typename T>
std::vector<T> ReadSweepArray(const RunReader& reader, const std::string& name) {
  return std::get<std::vector<T>>(reader.ReadArray(kSweepRecord, name).data);
}

// Returns the expected answers in a JSON list, joined by " or ".
std::string ReferenceOf(const std::string& list) {
  const auto json = nlohmann::json::parse(list, nullptr, false);
  std::string reference;
  if (!json.is_array()) return reference;
  for (const auto& one : json) {
    if (!one.is_string()) continue;
    reference += (reference.empty() ? "" : " or ") + one.get<std::string>();
  }
  return reference;
}

// Adds the mean of scores [sample, setting, place] over the samples on which a setting was run.
void AddMeans(const std::vector<double>& scores, size_t cells, Record& record) {
  std::vector<double> means;
  std::vector<double> low;
  std::vector<double> high;
  for (size_t cell = 0; cell < cells; ++cell) {
    std::vector<double> of_cell;
    for (size_t i = cell; i < scores.size(); i += cells) {
      if (!std::isnan(scores[i])) of_cell.push_back(scores[i]);
    }
    const Interval interval = MeanInterval(of_cell);
    means.push_back(Mean(of_cell));
    low.push_back(interval.low);
    high.push_back(interval.high);
  }
  const std::vector<std::string> axes = {"setting", "place"};
  record.arrays.push_back({"judge_score_mean", axes, means, "", "judge_score, mean over samples"});
  record.arrays.push_back({"judge_score_mean_low", axes, low, "", ""});
  record.arrays.push_back({"judge_score_mean_high", axes, high, "", ""});
}

Record EmptyScores(const RunReader& reader, const SweepPlan& plan) {
  Axis places = ValuedAxis("place", plan.places);
  places.unit = "rank";
  Record record;
  record.name = kJudgeRecord;
  record.axes = {AxisOf(reader.Describe(kSweepRecord), "sample"),
                 LabelledAxis("setting", plan.CanonicalSettings()), places,
                 ValuedAxis("score", {kJudgeScores.begin(), kJudgeScores.end()})};
  const Provenance& origin = reader.provenance();
  record.attributes = {
      {"judged_model", origin.model_path}, {"judged_model_hash", origin.model_hash},
      {"judged_dtype", origin.dtype},      {"judged_command", origin.command},
      {"judged_created", origin.created},  {"task", plan.task}};
  record.signal = "judge_score_mean";
  return record;
}

}  // namespace

std::string JudgePrompt(const JudgedAnswer& answer) {
  return fmt::format(
      "Rate the answer to a question by comparing it with the reference.\n\n"
      "Score 1: The answer is completely unrelated to the reference.\n"
      "Score 3: The answer has minor relevance but does not align with the reference.\n"
      "Score 5: The answer has moderate relevance but contains inaccuracies.\n"
      "Score 7: The answer aligns with the reference but has minor omissions.\n"
      "Score 10: The answer is completely accurate and aligns perfectly with the reference.\n\n"
      "Question: {}\nReference: {}\nAnswer: {}\n\n"
      "Give only the score, as 1/10, 3/10, 5/10, 7/10 or 10/10.\nScore:",
      answer.question, answer.reference, answer.answer);
}

AnswerJudge::AnswerJudge(std::shared_ptr<const Decoder> decoder) : decoder_(std::move(decoder)) {
  if (!decoder_->tokenizer().chat_template().empty()) format_.chat_template = "model";
}

const std::array<double, kScores>& AnswerJudge::Shares(const JudgedAnswer& answer,
                                                       const JobContext& context) {
  const auto known = known_.find(answer);
  if (known != known_.end()) return known->second;
  std::vector<Prompt> prompts;
  for (const int64_t score : kJudgeScores) {
    OwnText own;
    own.text = JudgePrompt(answer);
    own.answer = fmt::format("{}/10", score);
    prompts.push_back(OwnPrompt(decoder_->tokenizer(), own, format_));
  }
  WhatIf what_if(decoder_, std::move(prompts));
  const WhatIfResult result = what_if.Evaluate(Intervention{}, context, false);
  double least = result.outcomes.front().score.nll;
  for (const WhatIfOutcome& outcome : result.outcomes) least = std::min(least, outcome.score.nll);
  std::array<double, kScores> shares{};
  double sum = 0;
  for (size_t i = 0; i < kScores; ++i) {
    shares[i] = std::exp(least - result.outcomes[i].score.nll);
    sum += shares[i];
  }
  for (double& share : shares) share /= sum;
  return known_.emplace(answer, shares).first->second;
}

void CheckGeneratedTexts(const RunReader& reader) {
  if (IsStoredSweep(reader) && reader.Describe(kSweepRecord).FindArray(kGeneratedText)) return;
  throw UsageError(reader.path(), "it has no generated texts of a sweep",
                   "Give a file of midscope sweep --score generation, or both");
}

Record JudgeSweep(const RunReader& reader, AnswerJudge& judge, const JobContext& context) {
  CheckGeneratedTexts(reader);
  const SweepPlan plan = StoredPlan(reader);
  const auto texts = ReadSweepArray<std::string>(reader, kGeneratedText);
  const auto expected = ReadSweepArray<std::string>(reader, kExpectedAnswers);
  const auto questions = ReadSweepArray<std::string>(reader, kQuestionText);
  const auto ran = ReadSweepArray<double>(reader, "generation_score");
  const size_t places = plan.places.size();
  const size_t cells = plan.settings.size() * places;
  std::vector<double> scores(texts.size(), kUndefined);
  std::vector<double> shares(texts.size() * kScores, kUndefined);
  for (size_t i = 0; i < texts.size(); ++i) {
    context.ThrowIfCancelled();
    context.Report({"judge", static_cast<int64_t>(i), std::ssize(texts), "answers"});
    if (std::isnan(ran[i])) continue;
    const size_t prompt = i / cells * places + i % places;
    const auto& of_answer =
        judge.Shares({questions[prompt], ReferenceOf(expected[prompt]), texts[i]}, context);
    std::ranges::copy(of_answer, shares.begin() + static_cast<std::ptrdiff_t>(i * kScores));
    const auto best = std::ranges::max_element(of_answer) - of_answer.begin();
    scores[i] = static_cast<double>(kJudgeScores[static_cast<size_t>(best)]);
  }
  context.Report({"judge", std::ssize(texts), std::ssize(texts), "answers"});
  Record record = EmptyScores(reader, plan);
  AddMeans(scores, cells, record);
  record.arrays.push_back({"judge_score",
                           {"sample", "setting", "place"},
                           std::move(scores),
                           "",
                           "likeliest of the scores 1, 3, 5, 7, 10 of the judge"});
  record.arrays.push_back({"judge_share",
                           {"sample", "setting", "place", "score"},
                           std::move(shares),
                           "",
                           "probability of each score among the five"});
  NotePlanTexts(plan, record);
  return record;
}

}  // namespace midscope
