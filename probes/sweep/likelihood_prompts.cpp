// SPDX-License-Identifier: MIT
#include "probes/sweep/likelihood_prompts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/record_names.h"
#include "core/run/scoring.h"
#include "kernels/check.h"
#include "probes/base/records.h"

namespace midscope {

LikelihoodPrompts::LikelihoodPrompts(const std::vector<TaskQuestion>& questions)
    : questions_(questions),
      choices_(questions.front().has_choices() ? questions.front().sample.choices.size() : 0) {
  const bool one_row =
      std::all_of(questions.begin(), questions.end(),
                  [](const TaskQuestion& question) { return !question.choice_ids.empty(); });
  if (!one_row) stride_ = 1 + choices_;
  for (const TaskQuestion& question : questions) {
    all_.push_back(question.prompt);
    if (one_row) continue;
    MIDSCOPE_CHECK(question.choice_prompts.size() == choices_);
    all_.insert(all_.end(), question.choice_prompts.begin(), question.choice_prompts.end());
  }
}

void LikelihoodPrompts::TakeChoices(size_t prompt, const WhatIfOutcome& outcome,
                                    std::span<double> nll) const {
  if (!IsQuestion(prompt)) {
    nll[prompt % stride_ - 1] = outcome.score.nll;
    return;
  }
  if (stride_ > 1 || choices_ == 0) return;
  const std::vector<int32_t>& ids = questions_[PlaceOf(prompt)].choice_ids;
  const double all = LogSumExp(outcome.last_logits);
  for (size_t i = 0; i < ids.size(); ++i) {
    nll[i] = all - static_cast<double>(outcome.last_logits[static_cast<size_t>(ids[i])]);
  }
}

std::vector<double> ChoiceScores(const std::vector<TaskQuestion>& questions,
                                 std::span<const double> nll) {
  std::vector<double> scores;
  if (nll.empty()) return scores;
  const size_t choices = questions.front().sample.choices.size();
  for (size_t cell = 0; cell * choices < nll.size(); ++cell) {
    const TaskSample& sample = questions[cell % questions.size()].sample;
    const std::span<const double> of_cell = nll.subspan(cell * choices, choices);
    const bool known = std::none_of(of_cell.begin(), of_cell.end(),
                                    [](double value) { return std::isnan(value); });
    scores.push_back(known ? ScoreChoices(sample.choice_rule, sample.choices, of_cell)
                           : std::numeric_limits<double>::quiet_NaN());
  }
  return scores;
}

void AddChoices(const std::vector<TaskQuestion>& questions, std::vector<double> scores,
                std::vector<double> nll, Record& record) {
  if (scores.empty()) return;
  const std::vector<std::string> axes = {"setting", "place"};
  const TaskSample& sample = questions.front().sample;
  if (sample.choice_rule == ChoiceRule::kRightShare) {
    record.arrays.push_back({kRightShare, axes, std::move(scores), "",
                             "share of the choices' likelihood that the right ones have"});
  } else {
    std::vector<uint8_t> correct;
    correct.reserve(scores.size());
    for (const double score : scores) correct.push_back(score == 1 ? 1 : 0);
    record.arrays.push_back({kChoiceCorrect, axes, std::move(correct), "",
                             "whether the right choice is likelier than the others"});
  }
  std::vector<uint8_t> right;
  for (const TaskQuestion& question : questions) {
    for (const TaskChoice& choice : question.sample.choices) right.push_back(choice.right ? 1 : 0);
  }
  record.axes.push_back(CountedAxis(kChoiceAxis, std::ssize(sample.choices)));
  record.arrays.push_back({kChoiceNll,
                           {"setting", "place", kChoiceAxis},
                           std::move(nll),
                           "nats",
                           "negative log-likelihood of each choice, summed over its tokens"});
  record.arrays.push_back(
      {kChoiceRight, {"place", kChoiceAxis}, std::move(right), "", "whether the choice is right"});
}

}  // namespace midscope
