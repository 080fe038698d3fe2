// SPDX-License-Identifier: MIT
// The changes to a run, as a value: a list of terms. Its text form is described in
// core/terms/intervention_text.h, each term in one file of core/terms. ResolvePassages (passage.h)
// replaces names of passages by tokens; CompilePlans (plan/attention_plan.h) then makes attention
// plans of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parameter.h"
#include "core/base/spans.h"
#include "core/intervention/term.h"

namespace midscope {

// The last layer of a range that is open to the end of any model.
inline constexpr int64_t kEveryLayerAfter = 1 << 20;

// Zero-based inclusive ranges; `all` where nothing was said.
struct LayerSet {
  struct Range {
    int64_t first = 0;
    int64_t last = 0;
    bool operator==(const Range&) const = default;
  };
  bool all = true;
  std::vector<Range> ranges;

  static LayerSet From(int64_t first);  // `first` and all later ones
  bool Contains(int64_t layer) const;
  // "all", "8-25", "[2-8,12]".
  std::string Text() const;
  bool operator==(const LayerSet&) const = default;
};

// The rows whose attention is changed.
enum class ChannelRows {
  kAnswer,  // the last prompt row and every scored or generated row (the public code)
  kLast,    // the last prompt row alone (the paper's words)
  kLastN,   // the last n prompt rows, and every scored or generated row
  kAll,     // every row
};

struct RowChoice {
  ChannelRows rows = ChannelRows::kAnswer;
  int64_t last_rows = 1;  // n of kLastN
  bool operator==(const RowChoice&) const = default;
};

// Position interpolation: every position divided by `ratio`.
struct PositionInterpolation {
  double ratio = 1.5;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const PositionInterpolation&) const = default;
};

// A ratio for every head, as a user edits it.
struct HeadRatioTable {
  std::string file;            // where it was read from
  int64_t heads = 0;           // columns of `ratios`
  std::vector<double> ratios;  // [layer, head]
  // The seed by which each layer's ratios were given to its heads in another order than the file's.
  std::optional<uint64_t> shuffle = {};
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const HeadRatioTable&) const = default;
};

enum class MsPoeMode { kRank, kCode, kGroup };
// kScore: the most position-aware head gets `min`. kScoreReversed: it gets `max`. kSequential: head
// 0 gets `min`. kReversed: head 0 gets `max` (the public code's head_type "normal", with the mode's
// divisor). kRandom: a permutation by `seed` and layer. kEntropy: the head whose last row, before
// rotation, has the highest entropy gets the ratio that is nearest to 1.
enum class MsPoeOrder { kScore, kScoreReversed, kSequential, kReversed, kRandom, kEntropy };

// Ms-PoE (arXiv 2403.04797; departures of its public code: seed-facts A.3). Positions of a head are
// divided by its ratio.
struct MsPoe {
  double min = 1.2;  // the ramp's first ratio; above `max` the ramp falls
  double max = 1.8;  // its last
  MsPoeMode mode = MsPoeMode::kRank;
  MsPoeOrder order = MsPoeOrder::kScore;
  uint64_t seed = 0;                    // of kRandom
  double alpha = 3;                     // of the score: keys with alpha times the mean weight count
  LayerSet layers = LayerSet::From(2);  // as the public scripts; the paper: all
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const MsPoe&) const = default;
};

// Self-Extend (arXiv 2401.01325; seed-facts C): keys nearer than `window` keep their distance,
// those further away at positions divided by `group`, rounded down.
struct SelfExtend {
  int64_t group = 2;
  int64_t window = 64;     // keys, the query's own included
  int64_t scale_base = 0;  // > 0: AttentionPlan::log_scale_base
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const SelfExtend&) const = default;
};

enum class MemoryUpdate { kLinear, kDelta };

// Infini-attention (arXiv 2404.07143): local attention within segments, mixed by `gate` with the
// output of a compressive memory of all earlier segments.
struct InfiniAttention {
  int64_t segment = 2048;             // tokens
  std::vector<double> gates = {0.1};  // share of the memory, 0 to 1: one, or one per query head
  MemoryUpdate update = MemoryUpdate::kLinear;
  bool operator==(const InfiniAttention&) const = default;
};

// Rows by rule, or those of a passage's tokens.
struct ChosenRows {
  bool by_rule = true;
  RowChoice rule{ChannelRows::kAll};
  TokenSpan passage;
  bool operator==(const ChosenRows&) const = default;
};

// Positional channel scaling (arXiv 2406.02536; seed-facts D): in the listed layers the chosen
// rows' queries, and all keys that those rows see, come from the normalised input with `channel`
// multiplied by `factor`; values stay clean, unless `change_value`: then the values that those rows
// see come from it too (an option of the public code that nothing in it switches on).
struct ChannelScaling {
  int64_t channel = 0;
  double factor = 1.0;
  LayerSet layers;
  RowChoice rows;
  bool change_value = false;
  bool operator==(const ChannelScaling&) const = default;
};

// Position ids of the prompt's tokens, set before the position scheme divides or groups them: of a
// file, or drawn by a sampler (core/positions) for the prompt's number of tokens. Neither: the
// rows' own.
struct GivenPositions {
  std::string file;         // where `ids` were read from
  std::vector<double> ids;  // [prompt token], from 0
  // The sampler's name; "": of the file. Context length L = factor times the prompt's tokens,
  // rounded down.
  std::string sampler;
  double factor = 8;
  uint64_t seed = 1;
  std::vector<std::pair<std::string, ParameterValue>> options;  // every parameter of the sampler
  // Those that see the ids, in their queries and in the keys that they see.
  RowChoice rows{ChannelRows::kAll};
  // The file's numbers count, not its name.
  bool operator==(const GivenPositions& other) const {
    return ids == other.ids && sampler == other.sampler && factor == other.factor &&
           seed == other.seed && options == other.options && rows == other.rows;
  }
};

// The tokens that rows of a cropped passage still see besides the passage itself.
enum class CropKeep {
  kFirst,  // the prompt's first token (arXiv 2406.02536, App. C)
  kNone,   // nothing (App. D)
};

// The passage's tokens see nothing before the passage except as `keep` allows; all others see them
// as before (arXiv 2406.02536, App. C "crop mask": layers 1-8 in the paper's count).
struct Crop {
  TokenSpan span;  // with a name: the prompt's passage of that name; without one: [begin, end)
  LayerSet layers;
  CropKeep keep = CropKeep::kFirst;
  bool operator==(const Crop&) const = default;
};

enum class MoveTo {
  kBegin,  // the passage begins where the first piece does
  kEnd,    // it ends where the last piece does
  kShift,  // each token is `shift` positions further on
};

// The passage's tokens take other positions, in what the chosen rows see and, where a row is one of
// them, for its query (arXiv 2406.02536, App. C: the last row alone; App. D: every row). The order
// of tokens, and so the causal mask, stays.
struct Move {
  TokenSpan span;  // as in Crop
  MoveTo to = MoveTo::kBegin;
  int64_t shift = 0;  // of kShift
  LayerSet layers;
  RowChoice rows;
  // For a kShift that replaces kBegin or kEnd: the passage moves to where other tokens of the
  // prompt are, and takes their ids where ids are given.
  bool to_tokens = false;
  bool operator==(const Move&) const = default;
};

// HeadName::more that means all heads from `head` on.
inline constexpr int64_t kEveryHeadAfter = 1 << 20;
// HeadName::layer that means all layers.
inline constexpr int64_t kEveryLayer = -1;

// A query head, or a key head together with all query heads that read it, or several of either:
// "L12H3", "L12G1", "L12H0-3", "L12H*", "all".
struct HeadName {
  int64_t layer = 0;
  int64_t head = 0;
  bool group = false;
  int64_t more = 0;  // so many heads after it are meant as well
  static HeadName All() { return {kEveryLayer, 0, false, kEveryHeadAfter}; }
  std::string Text() const;
  bool operator==(const HeadName&) const = default;
  auto operator<=>(const HeadName&) const = default;  // NOLINT(modernize-use-nullptr): no 0
};

// The chosen rows' attention weights of the passage's tokens, times `factor` (arXiv 2406.02536,
// section 4.3 "manually double the attention weights": as said there a row then no longer sums to
// 1, unless `renormalise`).
struct Boost {
  TokenSpan span;  // as in Crop
  double factor = 2;
  bool renormalise = false;
  LayerSet layers;
  RowChoice rows;
  std::vector<HeadName> heads = {HeadName::All()};  // sorted, each once
  bool operator==(const Boost&) const = default;
};

enum class AblateWith {
  kZero,
  kMean,  // row i's output becomes the mean of the head's outputs in rows 0 .. i of this run
};

// The outputs of heads (hook_z) are replaced.
struct Ablation {
  std::vector<HeadName> heads;  // sorted, each once
  AblateWith with = AblateWith::kZero;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Ablation&) const = default;
};

// The heads' logits, soft cap and ALiBi included, are divided by `temperature`.
struct Temperature {
  std::vector<HeadName> heads;  // sorted, each once
  double temperature = 1;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Temperature&) const = default;
};

struct Intervention {
  // Ordered by type as core/terms/terms.h lists them; terms of one type as they were added.
  std::vector<Term> terms;

  // Puts the term behind those of its type. A position scheme replaces another.
  void Add(Term term);
  // The first value of this type; null without one.
  template <typename T>
  const T* Find() const {
    for (const Term& term : terms) {
      if (const T* value = term.As<T>()) return value;
    }
    return nullptr;
  }
  // All values of this type, in order.
  template <typename T>
  std::vector<T> All() const {
    std::vector<T> values;
    for (const Term& term : terms) {
      if (const T* value = term.As<T>()) values.push_back(*value);
    }
    return values;
  }
  // Calls change(value) for each value of this type, in order.
  template <typename T, typename F>
  void Change(const F& change) {
    for (Term& term : terms) {
      const T* value = term.As<T>();
      if (!value) continue;
      T changed = *value;
      change(changed);
      term = Term(term.type(), std::move(changed));
    }
  }
  // Removes the terms whose values are of this type.
  template <typename T>
  void Remove() {
    std::erase_if(terms, [](const Term& term) { return term.As<T>() != nullptr; });
  }

  bool empty() const { return terms.empty(); }
  bool operator==(const Intervention&) const = default;
};

}  // namespace midscope
