// SPDX-License-Identifier: MIT
// The prompts whose likelihoods a sample needs: those of its questions, and of choices that one row
// can't compare.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/record.h"
#include "core/run/what_if.h"
#include "core/tokenizer/prompt.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

inline constexpr const char* kChoiceCorrect = "choice_correct";
inline constexpr const char* kRightShare = "right_share";

class LikelihoodPrompts {
 public:
  // One question per place, all with as many choices; they must outlive it.
  explicit LikelihoodPrompts(const std::vector<TaskQuestion>& questions);

  // For each place the question's own prompt, then those of its choices.
  const std::vector<Prompt>& all() const { return all_; }
  // Choices of a question; 0: there are none.
  size_t choices() const { return choices_; }
  size_t PlaceOf(size_t prompt) const { return prompt / stride_; }
  bool IsQuestion(size_t prompt) const { return prompt % stride_ == 0; }

  // Writes the scores of its place's choices, from the outcome of this prompt, into nll [choice].
  void TakeChoices(size_t prompt, const WhatIfOutcome& outcome, std::span<double> nll) const;

 private:
  const std::vector<TaskQuestion>& questions_;
  size_t choices_;
  size_t stride_ = 1;  // prompts of a place
  std::vector<Prompt> all_;
};

// The scores of cells [setting, place] by the sample's rule; NaN if a choice has no likelihood.
// nll: [setting, place, choice].
std::vector<double> ChoiceScores(const std::vector<TaskQuestion>& questions,
                                 std::span<const double> nll);

// Arrays choice_correct or (by the rule) right_share [setting, place], choice_nll [setting, place,
// choice], choice_right [place, choice]; nothing if there are no scores.
void AddChoices(const std::vector<TaskQuestion>& questions, std::vector<double> scores,
                std::vector<double> nll, Record& record);

}  // namespace midscope
