// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/array_kinds.h"
#include "core/base/parameter.h"
#include "core/base/utf8.h"
#include "core/decoder/captures.h"
#include "core/run/scoring.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

class LensProbe : public Probe {
 public:
  explicit LensProbe(const ProbeInput& input)
      : decoder_(input.decoder),
        answer_(input.prompt.answer_ids.empty() ? -1 : input.prompt.answer_ids.front()),
        top_(std::min(input.options.Integer("lens-top"), input.decoder.config().vocabulary)),
        rows_(input.decoder.config(), 1) {}

  std::vector<Hook*> Hooks() override { return {&rows_}; }

  Record Finish(const RunResult&) override {
    const ModelConfig& config = decoder_.config();
    const std::vector<float> logits = decoder_.Unembed(rows_.values());
    const auto vocabulary = static_cast<size_t>(config.vocabulary);
    for (size_t layer = 0; layer < static_cast<size_t>(config.layers); ++layer) {
      Read(std::span(logits).subspan(layer * vocabulary, vocabulary));
    }
    Record record;
    record.name = "logit_lens";
    record.axes = {CountedAxis("layer", config.layers), CountedAxis("rank", top_)};
    record.axes.back().unit = kRankFromZero;
    const std::vector<std::string> table = {"layer", "rank"};
    record.arrays = {
        {"lens_token_ids", table, ids_, "",
         "likeliest tokens, were the model to end after a block"},
        {"lens_token_text", table, texts_, "", "their text, control characters shown"},
        {"lens_logit", table, top_logits_, "", "their logits"},
        {"lens_probability", table, probabilities_, "", "softmax over the vocabulary"}};
    record.signal = "lens_probability";
    if (answer_ >= 0) AddAnswer(record);
    return record;
  }

 private:
  void Read(std::span<const float> logits) {
    const double normaliser = LogSumExp(logits);
    for (const TopToken& token : TopTokens(logits, top_)) {
      ids_.push_back(token.id);
      texts_.push_back(DisplayText(decoder_.tokenizer().TokenText(token.id)));
      top_logits_.push_back(token.logit);
      probabilities_.push_back(std::exp(token.logit - normaliser));
    }
    if (answer_ < 0) return;
    const float of_answer = logits[static_cast<size_t>(answer_)];
    answer_logit_.push_back(of_answer);
    answer_log_probability_.push_back(of_answer - normaliser);
    answer_rank_.push_back(TokenRank(logits, answer_));
  }

  void AddAnswer(Record& record) {
    record.arrays.push_back({"answer_rank",
                             {"layer"},
                             answer_rank_,
                             kRankFromZero,
                             "place of the answer's first token among all; 0: the likeliest"});
    record.arrays.push_back(
        {"answer_logit", {"layer"}, answer_logit_, "", "logit of the answer's first token"});
    record.arrays.push_back({"answer_log_probability",
                             {"layer"},
                             answer_log_probability_,
                             "nats",
                             "log-probability of the answer's first token after each block"});
    record.attributes["answer_token"] = int64_t{answer_};
    record.signal = "answer_log_probability";
  }

  const Decoder& decoder_;
  int32_t answer_;  // -1: none
  int64_t top_;
  ResidualRows rows_;
  std::vector<int64_t> ids_;
  std::vector<std::string> texts_;
  std::vector<float> top_logits_;
  std::vector<double> probabilities_;
  std::vector<int64_t> answer_rank_;
  std::vector<float> answer_logit_;
  std::vector<double> answer_log_probability_;
};

}  // namespace

Record LogitLensByPlace(const Record& stacked) {
  const Axis& place = AxisOf(stacked, "place");
  const Axis& layer = AxisOf(stacked, "layer");
  const auto& nats = ArrayValues<double>(stacked, "answer_log_probability");
  const auto& ranks = ArrayValues<int64_t>(stacked, "answer_rank");
  const auto samples = static_cast<double>(AxisOf(stacked, "sample").size);
  const auto cells = static_cast<size_t>(place.size * layer.size);
  std::vector<double> mean(cells);
  std::vector<double> mean_rank(cells);
  std::vector<double> first(cells);
  for (size_t i = 0; i < nats.size(); ++i) {
    mean[i % cells] += nats[i] / samples;
    mean_rank[i % cells] += static_cast<double>(ranks[i]) / samples;
    first[i % cells] += ranks[i] == 0 ? 1 / samples : 0;
  }
  const std::vector<std::string> axes = {"place", "layer"};
  Record record;
  record.name = "logit_lens_by_place";
  record.axes = {place, layer};
  record.arrays = {
      {"mean_answer_log_probability", axes, mean, "nats",
       "log-probability of the answer's first token after each block, mean over "
       "samples"},
      {"mean_answer_rank", axes, mean_rank, kRankFromZero,
       "its place among all tokens, mean; 0: the likeliest"},
      {"answer_first_share", axes, first, "", "share of samples whose likeliest token it is"}};
  record.signal = "mean_answer_log_probability";
  return record;
}

ProbeType LogitLensProbe() {
  ProbeType type;
  type.name = "logit_lens";
  type.summary =
      "the last row through the final norm and output after every block: top tokens, "
      "the answer's rank";
  type.source = "nostalgebraist, 'interpreting GPT: the logit lens', 2020";
  type.departures =
      "the original notebook looks at every row, and at the block's input too; here the last "
      "prompt row after each block, of the answer its first token";
  type.limits =
      "works for every family, whatever its positions; early layers of a model whose output norm "
      "or output matrix is far from theirs say little";
  type.options = {TokensParameter(
      "lens-top", "how many of the likeliest tokens logit_lens lists after each block", 1, 5)};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<LensProbe>(input); };
  type.summarise = [](const Record& stacked) -> std::vector<Record> {
    if (!stacked.FindArray("answer_rank")) return {};
    return {LogitLensByPlace(stacked)};
  };
  return type;
}

}  // namespace midscope
