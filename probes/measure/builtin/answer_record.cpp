// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/answer_record.h"

#include "core/base/record_names.h"
#include "probes/base/records.h"

namespace midscope {

Record AnswerRecord(const Prompt& prompt, const AnswerScore& score) {
  Record record;
  record.name = kAnswerRecord;
  record.axes = {CountedAxis("answer_token", static_cast<int64_t>(prompt.answer_ids.size()))};
  record.arrays = {{"answer_ids",
                    {"answer_token"},
                    std::vector<int64_t>(prompt.answer_ids.begin(), prompt.answer_ids.end()),
                    "",
                    "the answer's tokens"},
                   {"answer_token_nll",
                    {"answer_token"},
                    score.token_nll,
                    "nats",
                    "negative log-likelihood of each answer token after the tokens before it"}};
  record.attributes = {{"answer", prompt.answer},
                       {kAnswerNll, score.nll},
                       {"correct", static_cast<int64_t>(score.correct)}};
  record.signal = "answer_token_nll";
  return record;
}

}  // namespace midscope
