// SPDX-License-Identifier: MIT
#include "core/run/scoring.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/check.h"

namespace midscope {
double LogSumExp(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

double NegativeLogLikelihood(std::span<const float> logits, int32_t target) {
  return LogSumExp(logits) - static_cast<double>(logits[static_cast<size_t>(target)]);
}

AnswerScore ScoreAnswer(const RunResult& result, int64_t prompt_tokens,
                        std::span<const int32_t> answer_ids) {
  MIDSCOPE_CHECK(!answer_ids.empty());
  AnswerScore score;
  score.correct = true;
  for (size_t i = 0; i < answer_ids.size(); ++i) {
    const std::span<const float> logits =
        result.Logits(prompt_tokens - 1 + static_cast<int64_t>(i));
    const double nll = NegativeLogLikelihood(logits, answer_ids[i]);
    score.token_nll.push_back(nll);
    score.nll += nll;
    // Greedy decoding only reaches the answer's token i after the tokens before it, so teacher
    // forcing gives the same result.
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    score.correct = score.correct && best == answer_ids[i];
  }
  return score;
}

std::vector<int32_t> IdsToScore(std::span<const int32_t> prompt_ids,
                                std::span<const int32_t> answer_ids) {
  std::vector<int32_t> ids(prompt_ids.begin(), prompt_ids.end());
  if (!answer_ids.empty()) ids.insert(ids.end(), answer_ids.begin(), answer_ids.end() - 1);
  return ids;
}

int64_t TokenRank(std::span<const float> logits, int32_t id) {
  const float logit = logits[static_cast<size_t>(id)];
  const auto larger =
      std::count_if(logits.begin(), logits.end(), [&](float other) { return other > logit; });
  return larger + std::count(logits.begin(), logits.begin() + id, logit);
}

}  // namespace midscope
