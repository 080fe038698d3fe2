// SPDX-License-Identifier: MIT
// Scores multiple choice by comparing the likelihoods of the choices as continuations of a prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_fields.h"

namespace midscope {

// One of the continuations among which the model chooses.
struct TaskChoice {
  std::string text;  // with leading space
  bool right = false;
  // The prompt before this continuation. "": the text of the sample. Only WinoGrande sets it, which
  // compares one continuation after two prompts.
  std::string prompt = {};
  bool operator==(const TaskChoice&) const = default;
};

// Rules for scoring a choice by the log-likelihood of the continuation, summed over all tokens. The
// first two are `acc` and `acc_norm` of the Language Model Evaluation Harness, which resolves ties
// in favour of the first choice; here a tie between a right and a wrong choice counts as wrong.
enum class ChoiceRule {
  kLikeliest,              // 1 if a right choice is likelier than all wrong ones, else 0
  kLikeliestPerCharacter,  // same, log-likelihood divided by characters
  kRightShare,  // likelihood of the right choices / that of all choices (mc2 of TruthfulQA; Lin et
                // al. 2021, arXiv 2109.07958)
};

// Converts between rules and their names "likeliest", "per-character", "right-share".
// ReadChoiceRule throws Error (failure), which names `thing`, for an unknown name.
std::string ChoiceRuleName(ChoiceRule rule);
ChoiceRule ReadChoiceRule(const std::string& thing, std::string_view name);

// Returns the score of a sample, 0 to 1. `nll`: negative log-likelihood of each choice in nats,
// summed over tokens. Throws std::logic_error if the numbers of choices and of `nll` differ.
double ScoreChoices(ChoiceRule rule, std::span<const TaskChoice> choices,
                    std::span<const double> nll);

// Multiple-choice data sets whose choices are texts, not letters: the code parses lines of the
// published files, and makes the prompts of the Language Model Evaluation Harness
// (github.com/EleutherAI/lm-evaluation-harness, folders arc, hellaswag, piqa, super_glue/boolq,
// truthfulqa and winogrande of lm_eval/tasks).

// A question and its choices, at least one of which is right. `prompt` is the text before the right
// choice.
struct ChoiceItem {
  std::string prompt;
  std::vector<TaskChoice> choices;
};

// Parses a line of a data set. `label`: index of the right choice if labels are in a separate file.
// Throws Error (failure), which names the line, if a field is missing, has another type or value.
using ChoiceReader = ChoiceItem (*)(const JsonFields& fields, std::optional<int64_t> label);

struct ChoiceSet {
  std::string name;  // "arc"
  ChoiceRule rule = ChoiceRule::kLikeliest;
  ChoiceReader read = nullptr;
};

// Returns the data sets arc (easy and challenge), hellaswag, winogrande, piqa, boolq,
// truthfulqa-mc1 and truthfulqa-mc2. Lines may have the fields of the authors' files or of the
// Hugging Face hub. ARC and HellaSwag are compared per character, as in published tables; the
// others by the summed log-likelihood (for PIQA the harness prints both, and tables differ).
const std::vector<ChoiceSet>& ChoiceSets();

}  // namespace midscope
