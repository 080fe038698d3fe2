// SPDX-License-Identifier: MIT
// The prompts whose likelihoods a sample requires: the prompts of its questions, and of choices
// unless the logits of one row compare these.
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
  // Collects the prompts of `questions`: one question per place, all with the same number of
  // choices; must outlive this object.
  explicit LikelihoodPrompts(const std::vector<TaskQuestion>& questions);

  // For each place, the question's prompt, followed by the prompts of its choices.
  const std::vector<Prompt>& all() const { return all_; }
  // Number of choices of a question; 0: none.
  size_t choices() const { return choices_; }
  size_t PlaceOf(size_t prompt) const { return prompt / stride_; }
  bool IsQuestion(size_t prompt) const { return prompt % stride_ == 0; }

  // Writes the negative log-likelihoods of choices that `outcome`, of prompt number `prompt`,
  // contains into nll [choice] of the prompt's place.
  void TakeChoices(size_t prompt, const WhatIfOutcome& outcome, std::span<double> nll) const;

 private:
  const std::vector<TaskQuestion>& questions_;
  size_t choices_;
  size_t stride_ = 1;  // prompts per place
  std::vector<Prompt> all_;
};

// Returns the choice scores of cells [setting, place] by the task's scoring rule; NaN if a choice
// has no likelihood. nll: [setting, place, choice].
std::vector<double> ChoiceScores(const std::vector<TaskQuestion>& questions,
                                 std::span<const double> nll);

// Adds to a record the arrays choice_correct or, depending on the scoring rule, right_share
// [setting, place], and choice_nll [setting, place, choice], choice_right [place, choice]. No
// effect if there are no scores.
void AddChoices(const std::vector<TaskQuestion>& questions, std::vector<double> scores,
                std::vector<double> nll, Record& record);

}  // namespace midscope
