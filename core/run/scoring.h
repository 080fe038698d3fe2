// SPDX-License-Identifier: MIT
// Scores an answer from the logits of the rows that predict it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/compute/top_tokens.h"
#include "core/decoder/decoder.h"

namespace midscope {

// Returns log of the sum of exp(logit), in double.
double LogSumExp(std::span<const float> logits);

// Returns -log softmax(logits)[target], in double.
double NegativeLogLikelihood(std::span<const float> logits, int32_t target);

// Returns the number of tokens that precede this one in TopTokens: 0 for the most likely.
int64_t TokenRank(std::span<const float> logits, int32_t id);

struct AnswerScore {
  double nll = 0;                 // nats, summed over the answer's tokens, teacher-forced
  std::vector<double> token_nll;  // [answer token]
  bool correct = false;           // the greedy continuation begins with the answer
};

// `result` holds the rows from prompt_tokens - 1 on of a run of prompt + answer (the answer's last
// token need not be run).
AnswerScore ScoreAnswer(const RunResult& result, int64_t prompt_tokens,
                        std::span<const int32_t> answer_ids);

// Returns prompt + answer without its last token: the tokens to run for its score.
std::vector<int32_t> IdsToScore(std::span<const int32_t> prompt_ids,
                                std::span<const int32_t> answer_ids);

}  // namespace midscope
