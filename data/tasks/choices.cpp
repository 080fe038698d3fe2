// SPDX-License-Identifier: MIT
#include "data/tasks/choices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/base/nearest_word.h"
#include "core/base/utf8.h"
#include "kernels/check.h"

namespace midscope {
namespace {

struct RuleEntry {
  ChoiceRule rule;
  const char* name;
};

constexpr std::array kRules = {
    RuleEntry{ChoiceRule::kLikeliest, "likeliest"},
    RuleEntry{ChoiceRule::kLikeliestPerCharacter, "per-character"},
    RuleEntry{ChoiceRule::kRightShare, "right-share"},
};

double Characters(std::string_view choice) {
  const int64_t space = choice.starts_with(' ') ? 1 : 0;
  return static_cast<double>(std::max<int64_t>(1, CountCharacters(choice) - space));
}

// Whether a right choice costs less than every wrong one.
double IsCheapest(std::span<const TaskChoice> choices, std::span<const double> cost) {
  double right = std::numeric_limits<double>::infinity();
  double wrong = right;
  for (size_t i = 0; i < choices.size(); ++i) {
    double& least = choices[i].right ? right : wrong;
    least = std::min(least, cost[i]);
  }
  const bool alone = std::isinf(wrong);
  return alone || right < wrong ? 1 : 0;
}

double RightShare(std::span<const TaskChoice> choices, std::span<const double> nll) {
  const double least = *std::min_element(nll.begin(), nll.end());
  double right = 0;
  double all = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    const double likelihood = std::exp(least - nll[i]);
    all += likelihood;
    if (choices[i].right) right += likelihood;
  }
  return right / all;
}

}  // namespace

std::string ChoiceRuleName(ChoiceRule rule) {
  for (const RuleEntry& entry : kRules) {
    if (entry.rule == rule) return entry.name;
  }
  MIDSCOPE_BUG("a rule without an entry");
}

ChoiceRule ReadChoiceRule(const std::string& thing, std::string_view name) {
  std::vector<std::string> known;
  for (const RuleEntry& entry : kRules) {
    if (entry.name == name) return entry.rule;
    known.emplace_back(entry.name);
  }
  throw Failure(thing, "there is no rule for choices " + Quote(name), KnownWordsHint(name, known));
}

double ScoreChoices(ChoiceRule rule, std::span<const TaskChoice> choices,
                    std::span<const double> nll) {
  MIDSCOPE_CHECK(!choices.empty() && choices.size() == nll.size());
  if (rule == ChoiceRule::kRightShare) return RightShare(choices, nll);
  std::vector<double> cost(nll.begin(), nll.end());
  if (rule == ChoiceRule::kLikeliestPerCharacter) {
    for (size_t i = 0; i < cost.size(); ++i) cost[i] /= Characters(choices[i].text);
  }
  return IsCheapest(choices, cost);
}

}  // namespace midscope
