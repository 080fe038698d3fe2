// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "probes/base/attention_row.h"
#include "probes/base/number_list.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

std::optional<int64_t> NumberOf(std::string_view name) {
  const size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  int64_t number = 0;
  return ReadWhole(name.substr(space + 1), number) ? std::optional(number) : std::nullopt;
}

std::vector<Piece> RequirePieces(const Prompt& prompt) {
  std::vector<Piece> pieces = NumberedPieces(prompt);
  if (pieces.empty()) {
    throw UsageError("probe 'key_information'", "the prompt has no numbered passages",
                     "Give --span 'pair 1=TEXT' and so on, or take a task's prompt");
  }
  return pieces;
}

std::vector<int64_t> Layers(const ProbeInput& input) {
  const int64_t layers = input.decoder.config().layers;
  const std::string& text = input.options.Text("key-layers");
  const std::string every = fmt::format("0-{}", layers - 1);
  return ParseNumberList("--key-layers", text.empty() ? every : text, 0, layers - 1);
}

class PiecesProbe : public Probe {
 public:
  explicit PiecesProbe(const ProbeInput& input)
      : heads_(input.decoder.config().heads),
        pieces_(RequirePieces(input.prompt)),
        layers_(Layers(input)),
        rows_(HookSite::kPattern, 1,
              [this](auto layer, auto head, auto, auto row) { Fold(layer, head, row); }) {
    by_head_.resize(layers_.size() * static_cast<size_t>(heads_) * pieces_.size());
    if (const PromptSpan* gold = input.prompt.FindSpan("gold")) FindGold(*gold);
  }

  std::vector<Hook*> Hooks() override { return {&rows_}; }

  Record Finish(const RunResult&) override {
    std::vector<int64_t> numbers;
    numbers.reserve(pieces_.size());
    for (const Piece& piece : pieces_) numbers.push_back(piece.number);
    const auto [sums, means] = OverHeads();
    Record record;
    record.name = "key_information";
    record.axes = {ValuedAxis("layer", layers_), CountedAxis("head", heads_),
                   ValuedAxis("piece", numbers)};
    record.arrays = {
        {"piece_attention_sum",
         {"layer", "piece"},
         sums,
         "",
         "attention of the last prompt token on a piece, summed over its tokens, mean over heads "
         "(arXiv 2406.02536, Eq. 6)"},
        {"piece_attention_mean",
         {"layer", "piece"},
         means,
         "",
         "the same, mean over the piece's tokens"},
        {"piece_attention",
         {"piece"},
         OverLayers(sums),
         "",
         "piece_attention_sum, mean over the layers"},
        {"piece_attention_per_token",
         {"piece"},
         OverLayers(means),
         "",
         "piece_attention_mean, mean over the layers"},
        {"piece_attention_by_head",
         {"layer", "head", "piece"},
         by_head_,
         "",
         "attention on a piece, summed over its tokens, of each head"}};
    record.attributes = {{"gold_piece", gold_piece_}};
    record.signal = "piece_attention_sum";
    return record;
  }

 private:
  void Fold(int64_t layer, int64_t head, std::span<const float> row) {
    const auto chosen = std::find(layers_.begin(), layers_.end(), layer);
    if (chosen == layers_.end()) return;
    const auto at = static_cast<size_t>((chosen - layers_.begin()) * heads_ + head);
    for (size_t p = 0; p < pieces_.size(); ++p) {
      by_head_[at * pieces_.size() + p] =
          AttentionSum(row, pieces_[p].span.token_begin, pieces_[p].span.token_end);
    }
  }

  // Returns sums and means of attention over each piece's tokens, averaged over heads; [layer,
  // piece].
  std::pair<std::vector<double>, std::vector<double>> OverHeads() const {
    const size_t count = pieces_.size();
    const auto heads = static_cast<size_t>(heads_);
    std::vector<double> sums(layers_.size() * count);
    for (size_t i = 0; i < by_head_.size(); ++i) {
      sums[i / (heads * count) * count + i % count] += by_head_[i] / static_cast<double>(heads_);
    }
    std::vector<double> means = sums;
    for (size_t i = 0; i < means.size(); ++i) {
      const PromptSpan& span = pieces_[i % count].span;
      means[i] /= static_cast<double>(span.token_end - span.token_begin);
    }
    return {sums, means};
  }

  std::vector<double> OverLayers(const std::vector<double>& values) const {
    std::vector<double> means(pieces_.size());
    for (size_t i = 0; i < values.size(); ++i) {
      means[i % means.size()] += values[i] / static_cast<double>(layers_.size());
    }
    return means;
  }

  void FindGold(const PromptSpan& gold) {
    for (const Piece& piece : pieces_) {
      if (piece.span.byte_begin <= gold.byte_begin && gold.byte_end <= piece.span.byte_end) {
        gold_piece_ = piece.number;
      }
    }
  }

  int64_t heads_;
  std::vector<Piece> pieces_;
  std::vector<int64_t> layers_;
  PatternRows rows_;
  std::vector<double> by_head_;  // [layer, head, piece]
  int64_t gold_piece_ = 0;
};

// Returns the means over samples of values [sample, place, piece].
std::vector<double> OverSamples(const std::vector<double>& values, int64_t samples) {
  std::vector<double> means(values.size() / static_cast<size_t>(samples));
  for (size_t i = 0; i < values.size(); ++i) {
    means[i % means.size()] += values[i] / static_cast<double>(samples);
  }
  return means;
}

}  // namespace

std::vector<Piece> NumberedPieces(const Prompt& prompt) {
  std::vector<Piece> pieces;
  for (const PromptSpan& span : prompt.spans) {
    if (const auto number = NumberOf(span.name)) pieces.push_back({*number, span});
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.number < b.number; });
  return pieces;
}

Record KeyInformationMap(const Record& stacked) {
  const int64_t samples = AxisOf(stacked, "sample").size;
  Axis place = AxisOf(stacked, "place");
  place.name = "gold_place";
  Record record;
  record.name = "key_information_map";
  record.axes = {place, AxisOf(stacked, "piece")};
  const auto map = [&](const std::string& name, const std::string& from, const std::string& what) {
    record.arrays.push_back(
        {name,
         {"gold_place", "piece"},
         OverSamples(ArrayValues<double>(stacked, from), samples),
         "",
         "attention on each piece by the gold's place, " + what +
             "; mean over samples, layers and heads (arXiv 2406.02536, Fig. 1)"});
  };
  map("attention_map_sum", "piece_attention", "summed over the piece's tokens");
  map("attention_map_mean", "piece_attention_per_token", "mean over the piece's tokens");
  record.signal = "attention_map_sum";
  return record;
}

ProbeType KeyInformationProbe() {
  ProbeType type;
  type.name = "key_information";
  type.summary = "attention of the last token on every pair, line or document, by layer";
  type.source =
      "Scaling a Single Dimension, arXiv 2406.02536, Eq. 6, Fig. 1 (layers 15-25 of Mistral-7B) "
      "and App. E";
  type.departures =
      "the public code has no such measure, and whether Eq. 6 sums or averages over a piece's "
      "tokens is not recoverable: both are given, the sum first; heads are averaged as in the "
      "paper";
  type.limits =
      "heads are query heads (GQA); rows as the model uses them, after rotation or ALiBi. Pieces "
      "are the passages called WORD NUMBER; pieces of unlike length compare by their mean";
  type.options = {
      TextParameter("key-layers", "layers of key_information, such as 15-25; default: all")};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<PiecesProbe>(input); };
  type.summarise = [](const Record& stacked) {
    return std::vector<Record>{KeyInformationMap(stacked)};
  };
  return type;
}

}  // namespace midscope
