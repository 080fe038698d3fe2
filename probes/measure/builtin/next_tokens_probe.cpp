// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <cmath>
#include <string>

#include "core/base/parameter.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "core/run/scoring.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

class TokensProbe : public Probe {
 public:
  explicit TokensProbe(const ProbeInput& input)
      : tokenizer_(input.decoder.tokenizer()),
        last_row_(input.prompt_tokens() - 1),
        answer_(input.prompt.answer_ids),
        top_(input.options.Integer("top")) {}

  Record Finish(const RunResult& result) override {
    return NextTokensRecord(tokenizer_, result.Logits(last_row_), top_, answer_);
  }

 private:
  const Tokenizer& tokenizer_;
  int64_t last_row_;
  const std::vector<int32_t>& answer_;
  int64_t top_;
};

void AddAnswerToken(const Tokenizer& tokenizer, std::span<const float> logits, int32_t id,
                    Record& record) {
  record.attributes["answer_token"] = int64_t{id};
  record.attributes["answer_token_text"] = DisplayText(tokenizer.TokenText(id));
  record.attributes["answer_rank"] = TokenRank(logits, id);
  record.attributes["answer_probability"] = std::exp(-NegativeLogLikelihood(logits, id));
  record.attributes["answer_logit"] = double{logits[static_cast<size_t>(id)]};
}

}  // namespace

Record NextTokensRecord(const Tokenizer& tokenizer, std::span<const float> logits, int64_t top,
                        std::span<const int32_t> answer) {
  const double normaliser = LogSumExp(logits);
  std::vector<int64_t> ids;
  std::vector<std::string> texts;
  std::vector<float> top_logits;
  std::vector<double> probabilities;
  for (const TopToken& token : TopTokens(logits, top)) {
    ids.push_back(token.id);
    texts.push_back(DisplayText(tokenizer.TokenText(token.id)));
    top_logits.push_back(token.logit);
    probabilities.push_back(std::exp(token.logit - normaliser));
  }
  Record record;
  record.name = kNextTokensRecord;
  record.axes = {CountedAxis("rank", static_cast<int64_t>(ids.size()))};
  record.axes.back().unit = kRankFromZero;
  record.arrays = {{"token_text", {"rank"}, texts, "", "text of the token, control shown"},
                   {"next_token_ids", {"rank"}, ids, "", "likeliest next tokens"},
                   {"logit", {"rank"}, top_logits, "", "logit after the last prompt token"},
                   {"probability", {"rank"}, probabilities, "", "softmax over the vocabulary"}};
  record.signal = "probability";
  if (!answer.empty()) AddAnswerToken(tokenizer, logits, answer.front(), record);
  return record;
}

ProbeType NextTokensProbe() {
  ProbeType type;
  type.name = kNextTokensRecord;
  type.summary = "the likeliest next tokens";
  type.options = {TokensParameter("top", "how many of the likeliest next tokens to list", 1, 10)};
  type.make = [](const ProbeInput& input) { return std::make_unique<TokensProbe>(input); };
  return type;
}

}  // namespace midscope
