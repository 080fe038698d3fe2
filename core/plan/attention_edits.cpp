// SPDX-License-Identifier: MIT
#include "core/plan/attention_edits.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/plan/context_limit.h"
#include "core/plan/plan_checks.h"

namespace midscope {
namespace {

bool Holds(const RowRange& rows, int64_t row) { return rows.first <= row && row < rows.last; }

bool Overlap(const RowRange& a, const RowRange& b) { return a.first < b.last && b.first < a.last; }

// Checks tokens and layers of crop, move and boost. `term` names it in errors.
void CheckPassage(const Passage& span, const LayerSet& layers, const ModelConfig& config,
                  int64_t prompt_tokens, const std::string& term) {
  CheckLayers(layers, config, term);
  if (!span.name.empty()) {
    throw UsageError(term, "this run knows no passage 'span=" + span.name + "'",
                     "Give its tokens, such as span=400:600");
  }
  if (span.begin < 0 || span.begin >= span.end || span.end > prompt_tokens) {
    throw UsageError(
        term,
        "the prompt has no tokens " + std::to_string(span.begin) + ":" + std::to_string(span.end),
        "It has tokens 0:" + std::to_string(prompt_tokens));
  }
}

void AddCrop(const Crop& crop, const ModelConfig& config, int64_t prompt_tokens,
             std::vector<AttentionEdits>& edits) {
  CheckPassage(crop.span, crop.layers, config, prompt_tokens, "crop");
  const int64_t first_hidden = crop.keep == CropKeep::kFirst ? 1 : 0;
  if (first_hidden >= crop.span.begin) return;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (!crop.layers.Contains(layer)) continue;
    edits[static_cast<size_t>(layer)].hidden.push_back(
        {{crop.span.begin, crop.span.end}, first_hidden, crop.span.begin});
  }
}

// `positions`: 0 to one below it.
void AddMove(const Move& move, const ModelConfig& config, int64_t prompt_tokens, int64_t positions,
             std::vector<AttentionEdits>& edits) {
  if (config.positions != PositionKind::kRotary) {
    throw UsageError("move", "this model has no rotary positions to change: it attends with ALiBi",
                     "crop, boost, ablate and temperature work on all models");
  }
  CheckPassage(move.span, move.layers, config, prompt_tokens, "move");
  if (move.to != MoveTo::kShift) {
    throw UsageError("move", "this run knows no pieces to move to", "Say how far: to=shift:-200");
  }
  const int64_t first = move.span.begin + move.shift;
  const int64_t last = move.span.end - 1 + move.shift;
  if (first < 0 || (positions > 0 && last >= positions)) {
    throw UsageError(
        "move",
        "tokens would stand at positions " + std::to_string(first) + " to " + std::to_string(last),
        "The model's positions are 0 to " + std::to_string(positions - 1));
  }
  const MovedTokens moved{RowsOf(move.rows, prompt_tokens), move.span.begin, move.span.end,
                          move.shift};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (!move.layers.Contains(layer)) continue;
    auto& all = edits[static_cast<size_t>(layer)].moved;
    for (const MovedTokens& other : all) {
      if (!Overlap({moved.begin, moved.end}, {other.begin, other.end})) continue;
      throw UsageError("move", "layer " + std::to_string(layer) + " moves a token twice",
                       "Give each token one position a layer");
    }
    all.push_back(moved);
  }
}

void AddBoost(const Boost& boost, const ModelConfig& config, int64_t prompt_tokens,
              std::vector<AttentionEdits>& edits) {
  CheckPassage(boost.span, boost.layers, config, prompt_tokens, "boost");
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (!boost.layers.Contains(layer)) continue;
    edits[static_cast<size_t>(layer)].boosted.push_back({RowsOf(boost.rows, prompt_tokens),
                                                         boost.span.begin, boost.span.end,
                                                         boost.factor, boost.renormalise});
  }
}

// Calls add(edits of the layer, query head) for each head of the names.
template <class Add>
void ForHeads(const std::vector<HeadName>& names, const ModelConfig& config,
              const std::string& term, std::vector<AttentionEdits>& edits, Add&& add) {
  for (const HeadName& name : names) {
    const int64_t count = name.group ? config.key_value_heads : config.heads;
    if (name.layer >= config.layers || name.head >= count) {
      throw UsageError(term, "the model has no " + name.Text(),
                       "It has layers 0-" + std::to_string(config.layers - 1) + " with heads H0-H" +
                           std::to_string(config.heads - 1) + " and key heads G0-G" +
                           std::to_string(config.key_value_heads - 1));
    }
    const int64_t members = name.group ? config.heads_per_key_value_head() : 1;
    for (int64_t i = 0; i < members; ++i)
      add(edits[static_cast<size_t>(name.layer)], name.layer, name.head * members + i);
  }
}

template <class Entry>
void AddHead(const Entry& entry, int64_t layer, const std::string& term,
             std::vector<Entry>& entries) {
  const bool twice = std::any_of(entries.begin(), entries.end(),
                                 [&](const Entry& other) { return other.head == entry.head; });
  if (twice) {
    throw UsageError(term, HeadName{layer, entry.head}.Text() + " is changed twice",
                     "Name each head once");
  }
  entries.push_back(entry);
}

// Smallest first row of the entries that one list has more often than the other. `first_row` says
// where an entry begins to tell.
template <class Entry, class FirstRow>
int64_t FirstDifference(const std::vector<Entry>& a, const std::vector<Entry>& b,
                        const FirstRow& first_row) {
  int64_t first = INT64_MAX;
  for (const auto* list : {&a, &b}) {
    for (const Entry& entry : *list) {
      if (std::count(a.begin(), a.end(), entry) != std::count(b.begin(), b.end(), entry))
        first = std::min(first, first_row(entry));
    }
  }
  return first;
}

template <class Entry>
int64_t FirstRowOfRows(const Entry& entry) {
  return entry.rows.first;
}

// Rows before the tokens do not see them.
template <class Entry>
int64_t FirstRowThatSees(const Entry& entry) {
  return std::max(entry.rows.first, entry.begin);
}

bool AddsMean(const AttentionEdits& before, const AttentionEdits& after) {
  return std::any_of(after.ablated.begin(), after.ablated.end(), [&](const AblatedHead& head) {
    const auto same_mean = [&](const AblatedHead& other) {
      return other.head == head.head && other.with == AblateWith::kMean;
    };
    return head.with == AblateWith::kMean &&
           std::none_of(before.ablated.begin(), before.ablated.end(), same_mean);
  });
}

}  // namespace

std::vector<AttentionEdits> CompileEdits(const Intervention& intervention,
                                         const ModelConfig& config, int64_t prompt_tokens) {
  std::vector<AttentionEdits> edits(static_cast<size_t>(config.layers));
  for (const Crop& crop : intervention.crops) AddCrop(crop, config, prompt_tokens, edits);
  for (const Move& move : intervention.moves)
    AddMove(move, config, prompt_tokens, LongestRun(intervention, config), edits);
  for (const Boost& boost : intervention.boosts) AddBoost(boost, config, prompt_tokens, edits);
  for (const Ablation& ablation : intervention.ablations) {
    const RowRange rows = RowsOf(ablation.rows, prompt_tokens);
    ForHeads(
        ablation.heads, config, "ablate", edits, [&](auto& layer_edits, auto layer, auto head) {
          AddHead(AblatedHead{rows, head, ablation.with}, layer, "ablate", layer_edits.ablated);
        });
  }
  for (const Temperature& term : intervention.temperatures) {
    const RowRange rows = RowsOf(term.rows, prompt_tokens);
    ForHeads(term.heads, config, "temperature", edits,
             [&](auto& layer_edits, auto layer, auto head) {
               AddHead(HeadTemperature{rows, head, term.temperature}, layer, "temperature",
                       layer_edits.temperatures);
             });
  }
  return edits;
}

int64_t FirstChangedRow(const AttentionEdits& before, const AttentionEdits& after) {
  if (before == after) return INT64_MAX;
  if (AddsMean(before, after)) return 0;
  return std::min(
      {FirstDifference(before.hidden, after.hidden, FirstRowOfRows<HiddenTokens>),
       FirstDifference(before.moved, after.moved, FirstRowThatSees<MovedTokens>),
       FirstDifference(before.boosted, after.boosted, FirstRowThatSees<BoostedTokens>),
       FirstDifference(before.temperatures, after.temperatures, FirstRowOfRows<HeadTemperature>),
       FirstDifference(before.ablated, after.ablated, FirstRowOfRows<AblatedHead>)});
}

std::vector<RowRange> AlikeRows(const AttentionEdits& edits, RowRange rows) {
  if (rows.empty()) return {};
  std::set<int64_t> breaks = {rows.first, rows.last};
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) {
      for (const int64_t row : {entry.rows.first, entry.rows.last}) {
        if (Holds(rows, row)) breaks.insert(row);
      }
    }
  };
  add(edits.hidden);
  add(edits.moved);
  add(edits.boosted);
  add(edits.temperatures);
  std::vector<RowRange> parts;
  for (auto at = breaks.begin(); std::next(at) != breaks.end(); ++at)
    parts.push_back({*at, *std::next(at)});
  return parts;
}

RowEdits EditsOfRow(const AttentionEdits& edits, int64_t row, int64_t heads) {
  RowEdits result;
  for (const HiddenTokens& hidden : edits.hidden) {
    if (Holds(hidden.rows, row)) result.hidden.push_back({hidden.begin, hidden.end});
  }
  for (const BoostedTokens& boosted : edits.boosted) {
    if (!Holds(boosted.rows, row)) continue;
    result.factors.push_back(
        {boosted.begin, boosted.end, static_cast<float>(boosted.factor), boosted.renormalise});
  }
  for (const MovedTokens& moved : edits.moved) {
    if (Holds(moved.rows, row)) result.moved.push_back(moved);
  }
  for (const HeadTemperature& head : edits.temperatures) {
    if (!Holds(head.rows, row)) continue;
    if (result.temperature.empty()) result.temperature.assign(static_cast<size_t>(heads), 1.0f);
    result.temperature[static_cast<size_t>(head.head)] = static_cast<float>(head.temperature);
  }
  return result;
}

int64_t PositionRows(const AttentionEdits& edits, int64_t rows) {
  for (const MovedTokens& moved : edits.moved) rows = std::max(rows, moved.end + moved.shift);
  return rows;
}

}  // namespace midscope
