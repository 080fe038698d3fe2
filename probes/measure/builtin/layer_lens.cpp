// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/layer_lens.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/base/record.h"
#include "core/base/utf8.h"
#include "core/decoder/captures.h"
#include "core/run/scoring.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/chosen_prompt_rows.h"

namespace midscope {
namespace {

constexpr const char* kLensTop = "lens-top";
constexpr const char* kLensAt = "lens-at";
constexpr const char* kRowRank = "row_answer_rank";
// Maximum number of rows of several layers that are decoded in one call, so that the output matrix
// is read once for them.
constexpr size_t kRowsPerCall = 128;

float LensDot(std::span<const float> a, std::span<const float> b) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> sums{};
  size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  double sum = 0;
  for (; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  for (const float lane : sums) sum += lane;
  return static_cast<float>(sum);
}

// Returns the positions whose rows are read: the positions of --lens-at, and the last position.
std::vector<int64_t> LensPositions(const ProbeInput& input) {
  std::vector<int64_t> rows = ChosenPromptRows(input.prompt, input.options.Text(kLensAt), kLensAt);
  const int64_t last = input.prompt_tokens() - 1;
  if (rows.empty() || rows.back() != last) rows.push_back(last);
  return rows;
}

class LayerLens : public Probe {
 public:
  LayerLens(const ProbeInput& input, std::string name, std::unique_ptr<const JacobianLensFile> lens)
      : decoder_(input.decoder),
        name_(std::move(name)),
        lens_(std::move(lens)),
        answer_(input.prompt.answer_ids.empty() ? -1 : input.prompt.answer_ids.front()),
        top_(std::min(input.options.Integer(kLensTop), input.decoder.config().vocabulary)),
        chosen_(ChosenPromptRows(input.prompt, input.options.Text(kLensAt), kLensAt)),
        rows_(input.decoder.config(), LensPositions(input)) {
    const ModelConfig& config = decoder_.config();
    if (lens_) {
      lens_->CheckFits(config.hidden, config.layers);
      layers_ = lens_->layers();
      layers_.push_back(config.layers - 1);
    } else {
      for (int64_t layer = 0; layer < config.layers; ++layer) layers_.push_back(layer);
    }
  }

  std::vector<Hook*> Hooks() override { return {&rows_}; }

  Record Finish(const RunResult&) override {
    const auto rows = static_cast<size_t>(rows_.rows());
    const auto vocabulary = static_cast<size_t>(decoder_.config().vocabulary);
    const size_t layers_per_call = std::max<size_t>(1, kRowsPerCall / rows);
    for (size_t first = 0; first < layers_.size(); first += layers_per_call) {
      std::vector<float> residual;
      const size_t end = std::min(layers_.size(), first + layers_per_call);
      for (size_t i = first; i < end; ++i) AppendRows(layers_[i], &residual);
      const std::vector<float> logits = decoder_.Unembed(residual);
      for (size_t row = 0; row < (end - first) * rows; ++row)
        ReadRow(row % rows, std::span(logits).subspan(row * vocabulary, vocabulary));
    }
    return MakeRecord();
  }

 private:
  // Appends the rows of a layer, multiplied by the matrix that transports them to the last layer.
  void AppendRows(int64_t layer, std::vector<float>* to) const {
    const auto hidden = static_cast<size_t>(decoder_.config().hidden);
    const size_t count = static_cast<size_t>(rows_.rows()) * hidden;
    const auto values =
        std::span(rows_.values()).subspan(static_cast<size_t>(layer) * count, count);
    if (!lens_ || layer == decoder_.config().layers - 1) {
      to->insert(to->end(), values.begin(), values.end());
      return;
    }
    const std::vector<float> matrix = lens_->Matrix(layer);
    for (size_t row = 0; row < count; row += hidden) {
      for (size_t i = 0; i < hidden; ++i) {
        to->push_back(
            LensDot(std::span(matrix).subspan(i * hidden, hidden), values.subspan(row, hidden)));
      }
    }
  }

  void ReadRow(size_t row, std::span<const float> logits) {
    const double normaliser = LogSumExp(logits);
    const double answer = answer_ < 0 ? 0 : logits[static_cast<size_t>(answer_)] - normaliser;
    if (row < chosen_.size()) {
      const TopToken likeliest = TopTokens(logits, 1).front();
      row_texts_.push_back(DisplayText(decoder_.tokenizer().TokenText(likeliest.id)));
      row_probabilities_.push_back(std::exp(likeliest.logit - normaliser));
      if (answer_ >= 0) {
        row_ranks_.push_back(TokenRank(logits, answer_));
        row_answer_.push_back(answer);
      }
    }
    if (row + 1 != static_cast<size_t>(rows_.rows())) return;
    for (const TopToken& token : TopTokens(logits, top_)) {
      ids_.push_back(token.id);
      texts_.push_back(DisplayText(decoder_.tokenizer().TokenText(token.id)));
      top_logits_.push_back(token.logit);
      probabilities_.push_back(std::exp(token.logit - normaliser));
    }
    if (answer_ < 0) return;
    answer_logit_.push_back(logits[static_cast<size_t>(answer_)]);
    answer_log_probability_.push_back(answer);
    answer_rank_.push_back(TokenRank(logits, answer_));
  }

  Record MakeRecord() const {
    Record record;
    record.name = name_;
    record.axes = {ValuedAxis("layer", layers_), CountedAxis("rank", top_)};
    if (std::ssize(layers_) == decoder_.config().layers)
      record.axes.front() = CountedAxis("layer", decoder_.config().layers);
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
    if (!chosen_.empty()) AddRows(record);
    if (lens_) record.attributes["lens_prompts"] = int64_t{lens_->prompts()};
    return record;
  }

  void AddAnswer(Record& record) const {
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

  void AddRows(Record& record) const {
    record.axes.push_back(ValuedAxis("position", chosen_));
    const std::vector<std::string> grid = {"layer", "position"};
    record.arrays.push_back({"row_token_text", grid, row_texts_, "",
                             "the likeliest token after each block, at the chosen positions"});
    record.arrays.push_back(
        {"row_token_probability", grid, row_probabilities_, "", "its probability"});
    if (answer_ < 0) return;
    record.arrays.push_back({kRowRank, grid, row_ranks_, kRankFromZero,
                             "place of the answer's first token among all, at these positions"});
    record.arrays.push_back(
        {"row_answer_log_probability", grid, row_answer_, "nats", "its log-probability"});
  }

  const Decoder& decoder_;
  std::string name_;
  std::unique_ptr<const JacobianLensFile> lens_;  // null: no matrices
  int32_t answer_;                                // first token of the answer; -1: none
  int64_t top_;
  std::vector<int64_t> chosen_;  // ascending; the first of rows_
  ResidualRows rows_;
  std::vector<int64_t> layers_;
  std::vector<int64_t> ids_;
  std::vector<std::string> texts_;
  std::vector<float> top_logits_;
  std::vector<double> probabilities_;
  std::vector<int64_t> answer_rank_;
  std::vector<float> answer_logit_;
  std::vector<double> answer_log_probability_;
  std::vector<std::string> row_texts_;
  std::vector<double> row_probabilities_;
  std::vector<int64_t> row_ranks_;
  std::vector<double> row_answer_;
};

// Returns, for each of `cells`, the mean over samples of the lowest rank over positions. Ranks are
// padded with -1 if prompts have fewer positions.
std::vector<double> BestRowRanks(const Record& stacked, size_t cells, double samples) {
  const auto& ranks = ArrayValues<int64_t>(stacked, kRowRank);
  const auto positions = static_cast<size_t>(AxisOf(stacked, "position").size);
  std::vector<double> best(cells);
  for (size_t row = 0; row * positions < ranks.size(); ++row) {
    int64_t lowest = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < positions; ++i) {
      const int64_t rank = ranks[row * positions + i];
      if (rank >= 0) lowest = std::min(lowest, rank);
    }
    best[row % cells] += static_cast<double>(lowest) / samples;
  }
  return best;
}

}  // namespace

std::vector<Parameter> LayerLensOptions() {
  return {
      TokensParameter(kLensTop, "how many of the likeliest tokens the lenses list after each block",
                      1, 5),
      TextParameter(kLensAt, std::string("rows that the lenses read as well as the last one: ") +
                                 kPromptRowsText)};
}

std::unique_ptr<Probe> MakeLayerLens(const ProbeInput& input, const std::string& name,
                                     std::unique_ptr<const JacobianLensFile> lens) {
  return std::make_unique<LayerLens>(input, name, std::move(lens));
}

Record LayerLensByPlace(const Record& stacked) {
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
  record.name = stacked.name + "_by_place";
  record.axes = {place, layer};
  record.arrays = {
      {"mean_answer_log_probability", axes, mean, "nats",
       "log-probability of the answer's first token after each block, mean over "
       "samples"},
      {"mean_answer_rank", axes, mean_rank, kRankFromZero,
       "its place among all tokens, mean; 0: the likeliest"},
      {"answer_first_share", axes, first, "", "share of samples whose likeliest token it is"}};
  if (stacked.FindArray(kRowRank)) {
    record.arrays.push_back({"mean_best_row_answer_rank", axes,
                             BestRowRanks(stacked, cells, samples), kRankFromZero,
                             "its lowest place in the rows of --lens-at, mean"});
  }
  record.signal = "mean_answer_log_probability";
  return record;
}

std::vector<Record> SummariseLayerLens(const Record& stacked) {
  if (!stacked.FindArray("answer_rank")) return {};
  return {LayerLensByPlace(stacked)};
}

}  // namespace midscope
