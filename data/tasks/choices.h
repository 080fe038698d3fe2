// SPDX-License-Identifier: MIT
// Continuations that are compared by likelihood: how multiple choice is scored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_fields.h"

namespace midscope {

// A continuation among which the model chooses.
struct TaskChoice {
  std::string text;  // with its leading space
  bool right = false;
  // The prompt that it follows, where that is not the sample's own: WinoGrande compares one
  // continuation after two prompts.
  std::string prompt = {};
  bool operator==(const TaskChoice&) const = default;
};

// All on the log-likelihood of the whole continuation, summed over its tokens. The first two are
// `acc` and `acc_norm` of the Language Model Evaluation Harness, which takes the first of equal
// choices; here a right choice that is only equal to another is wrong.
enum class ChoiceRule {
  kLikeliest,              // 1: a right choice is likelier than all wrong ones
  kLikeliestPerCharacter,  // the same of the log-likelihood per character, without leading space
  kRightShare,             // of the likelihood of all choices the share of the right ones (mc2 of
                           // TruthfulQA; Lin et al. 2021, arXiv 2109.07958)
};

// "likeliest", "per-character", "right-share". Throws Error (failure, about `thing`) for an unknown
// name.
std::string ChoiceRuleName(ChoiceRule rule);
ChoiceRule ReadChoiceRule(const std::string& thing, std::string_view name);

// 0 to 1. nll: of each choice, in nats, summed over its tokens. Throws std::logic_error for another
// number of them.
double ScoreChoices(ChoiceRule rule, std::span<const TaskChoice> choices,
                    std::span<const double> nll);

// Data sets of multiple choice whose choices are whole texts: their published lines, and the
// prompts of the Language Model Evaluation Harness (github.com/EleutherAI/lm-evaluation-harness,
// folders arc, hellaswag, piqa, super_glue/boolq, truthfulqa and winogrande of lm_eval/tasks).

// A question and its choices, at least one of them right. `prompt` is that of the right choice.
struct ChoiceItem {
  std::string prompt;
  std::vector<TaskChoice> choices;
};

// label: the right choice, counted from 0, if it is in a separate file. Throws Error (failure) that
// names the line: a field is missing, has another type or can't be used.
using ChoiceReader = ChoiceItem (*)(const JsonFields& fields, std::optional<int64_t> label);

struct ChoiceSet {
  std::string name;  // "arc"
  ChoiceRule rule = ChoiceRule::kLikeliest;
  ChoiceReader read = nullptr;
};

// arc (easy and challenge), hellaswag, winogrande, piqa, boolq, truthfulqa-mc1, truthfulqa-mc2. A
// line has the fields of the files that the authors publish, or those of the data hub.
// ARC and HellaSwag are compared per character, as published tables do; the others by the summed
// log-likelihood (the harness prints both of PIQA; tables differ).
const std::vector<ChoiceSet>& ChoiceSets();

}  // namespace midscope
