// SPDX-License-Identifier: MIT
// Continuations that are compared by likelihood: how multiple choice is scored.
#pragma once

#include <span>
#include <string>
#include <string_view>

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

}  // namespace midscope
