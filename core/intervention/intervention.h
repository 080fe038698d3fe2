// SPDX-License-Identifier: MIT
// Intervention, the changes to a run as a value: a list of terms. Its text form is described in
// core/terms/intervention_text.h, each term in one file of core/terms. ResolvePassages (passage.h)
// replaces names of passages by tokens; CompilePlans (plan/attention_plan.h) then compiles it to
// attention plans.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parameter.h"
#include "core/base/spans.h"

namespace midscope {

struct TermType;  // term_type.h

// A term of an intervention: a value together with its type. The value's C++ type may be visible in
// only one file of core/terms.
class Term {
 public:
  // Prefer TermOf (core/terms/terms.h), which finds the type. T must be copyable and have
  // operator==; `type` must outlive the term.
  template <typename T>
  Term(const TermType& type, T value)
      : type_(&type), held_(std::make_shared<const HeldValue<T>>(std::move(value))) {}

  const TermType& type() const { return *type_; }

  // Returns a pointer to the term's value if it is of type T, else null.
  template <typename T>
  const T* As() const {
    const auto* held = dynamic_cast<const HeldValue<T>*>(held_.get());
    return held ? &held->value : nullptr;
  }

  bool operator==(const Term& other) const {
    return type_ == other.type_ && (held_ == other.held_ || held_->Equals(*other.held_));
  }

 private:
  struct Held {
    Held() = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    virtual ~Held() = default;
    virtual bool Equals(const Held& other) const = 0;
  };

  template <typename T>
  struct HeldValue final : Held {
    explicit HeldValue(T held) : value(std::move(held)) {}
    bool Equals(const Held& other) const override {
      const auto* same = dynamic_cast<const HeldValue*>(&other);
      return same && same->value == value;
    }
    const T value;
  };

  const TermType* type_;
  std::shared_ptr<const Held> held_;  // immutable; copies of a term share it
};

// A layer number larger than any model has: the last layer of an open-ended range.
inline constexpr int64_t kEveryLayerAfter = 1 << 20;

// A set of layers as zero-based inclusive ranges; if `all` is true, every layer.
struct LayerSet {
  struct Range {
    int64_t first = 0;
    int64_t last = 0;
    bool operator==(const Range&) const = default;
  };
  bool all = true;
  std::vector<Range> ranges;

  static LayerSet From(int64_t first);  // `first` and all later layers
  bool Contains(int64_t layer) const;
  // Returns "all", "8-25" or "[2-8,12]".
  std::string Text() const;
  bool operator==(const LayerSet&) const = default;
};

// A rule that selects the query rows whose attention is changed.
enum class ChannelRows {
  kAnswer,  // the last prompt row and every scored or generated row (as in the public code)
  kLast,    // the last prompt row alone (as the paper says)
  kLastN,   // the last n prompt rows, and every scored or generated row
  kAll,     // every row
};

struct RowChoice {
  ChannelRows rows = ChannelRows::kAnswer;
  int64_t last_rows = 1;  // n of kLastN
  bool operator==(const RowChoice&) const = default;
};

// Position interpolation: every position is divided by `ratio`.
struct PositionInterpolation {
  double ratio = 1.5;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const PositionInterpolation&) const = default;
};

// A position ratio for every head, read from a user's file.
struct HeadRatioTable {
  std::string file;            // the file that it was read from
  int64_t heads = 0;           // columns of `ratios`
  std::vector<double> ratios;  // [layer, head]
  // The seed by which each layer's ratios were shuffled among its heads; nullopt: not shuffled.
  std::optional<uint64_t> shuffle = {};
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const HeadRatioTable&) const = default;
};

enum class MsPoeMode { kRank, kCode, kGroup };
// The order in which heads get the ratios from `min` to `max`. kScore: the most position-aware head
// gets `min`. kScoreReversed: that head gets `max`. kSequential: head 0 gets `min`. kReversed: head
// 0 gets `max` (the public code's head_type "normal", with the mode's divisor). kRandom: a
// permutation drawn by `seed` and layer. kEntropy: the head whose last row, before rotation, has
// the highest entropy gets the ratio closest to 1.
enum class MsPoeOrder { kScore, kScoreReversed, kSequential, kReversed, kRandom, kEntropy };

// Ms-PoE (arXiv 2403.04797). Each head's positions are divided by its ratio.
struct MsPoe {
  double min = 1.2;  // the ramp's first ratio; if above `max`, the ramp falls
  double max = 1.8;  // the ramp's last ratio
  MsPoeMode mode = MsPoeMode::kRank;
  MsPoeOrder order = MsPoeOrder::kScore;
  uint64_t seed = 0;  // for kRandom
  double alpha = 3;   // threshold of attended keys, as a multiple of the mean weight
  LayerSet layers = LayerSet::From(2);  // as in the public scripts; the paper: all layers
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const MsPoe&) const = default;
};

// Self-Extend (arXiv 2401.01325): keys nearer than `window` keep their distance; keys further away
// have their positions divided by `group`, rounded down.
struct SelfExtend {
  int64_t group = 2;
  int64_t window = 64;     // keys, including the query's own
  int64_t scale_base = 0;  // > 0: AttentionPlan::log_scale_base
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const SelfExtend&) const = default;
};

enum class MemoryUpdate { kLinear, kDelta };

// Infini-attention (arXiv 2404.07143): local attention within segments, mixed by `gate` with the
// output of a compressive memory of all earlier segments.
struct InfiniAttention {
  int64_t segment = 2048;  // tokens
  std::vector<double> gates = {
      0.1};  // share of the memory, 0 to 1: one value, or one per query head
  MemoryUpdate update = MemoryUpdate::kLinear;
  bool operator==(const InfiniAttention&) const = default;
};

// Rows of a prompt: chosen by a rule such as "last", or the rows of a passage's tokens.
struct ChosenRows {
  bool by_rule = true;
  RowChoice rule{ChannelRows::kAll};
  TokenSpan passage;
  bool operator==(const ChosenRows&) const = default;
};

// Positional channel scaling (arXiv 2406.02536): in the listed layers, queries of the chosen rows,
// and all keys that these rows see, are computed from the normalised input with `channel`
// multiplied by `factor`. Values are computed from the unchanged input, unless `change_value` is
// set (an option that the public code has but never sets): then the values that these rows see use
// the scaled input too.
struct ChannelScaling {
  int64_t channel = 0;
  double factor = 1.0;
  LayerSet layers;
  RowChoice rows;
  bool change_value = false;
  bool operator==(const ChannelScaling&) const = default;
};

// Position ids of the prompt's tokens, set before the position scheme divides or groups them: read
// from a file, or drawn by a sampler (core/positions) for the prompt's number of tokens. Without
// file and sampler, ids are the rows' indices.
struct GivenPositions {
  std::string file;         // the file that `ids` were read from
  std::vector<double> ids;  // [prompt token], from 0
  // The sampler's name; "" if the ids are from a file. Its context length L is factor times the
  // prompt's number of tokens, rounded down.
  std::string sampler;
  double factor = 8;
  uint64_t seed = 1;
  std::vector<std::pair<std::string, ParameterValue>> options;  // every parameter of the sampler
  // Query rows to which the ids apply, for their own positions and those of the keys they see.
  RowChoice rows{ChannelRows::kAll};
  // Compares the numbers of the file, not its name.
  bool operator==(const GivenPositions& other) const {
    return ids == other.ids && sampler == other.sampler && factor == other.factor &&
           seed == other.seed && options == other.options && rows == other.rows;
  }
};

// The tokens before the passage that the rows of a cropped passage still see.
enum class CropKeep {
  kFirst,  // the prompt's first token (arXiv 2406.02536, App. C)
  kNone,   // nothing (App. D)
};

// The rows of the passage see no tokens before the passage, except those that `keep` selects; all
// other rows are unchanged (arXiv 2406.02536, App. C "crop mask": layers 1-8 in the paper's
// numbering).
struct Crop {
  TokenSpan span;  // if named: the prompt's passage of that name; else [begin, end)
  LayerSet layers;
  CropKeep keep = CropKeep::kFirst;
  bool operator==(const Crop&) const = default;
};

enum class MoveTo {
  kBegin,  // the passage is moved to where the first piece begins
  kEnd,    // the passage is moved to where the last piece ends
  kShift,  // each token moves `shift` positions further on
};

// Moves a passage: its tokens get other positions in the keys that the chosen rows see and, if a
// row of the passage is chosen, in its query (arXiv 2406.02536, App. C: the last row alone; App. D:
// every row). The order of tokens, and so the causal mask, is unchanged.
struct Move {
  TokenSpan span;  // like Crop::span
  MoveTo to = MoveTo::kBegin;
  int64_t shift = 0;  // for kShift
  LayerSet layers;
  RowChoice rows;
  // Set when kBegin or kEnd was resolved to a kShift: the passage moves to the positions of other
  // prompt tokens and, if position ids are given, gets the ids of those tokens.
  bool to_tokens = false;
  bool operator==(const Move&) const = default;
};

// The value of HeadName::more that means all heads from `head` on.
inline constexpr int64_t kEveryHeadAfter = 1 << 20;
// The value of HeadName::layer that means all layers.
inline constexpr int64_t kEveryLayer = -1;

// Names a query head, a key head together with all query heads that read it, or several of either:
// "L12H3", "L12G1", "L12H0-3", "L12H*", "all".
struct HeadName {
  int64_t layer = 0;
  int64_t head = 0;
  bool group = false;
  int64_t more = 0;  // number of further heads after `head`
  static HeadName All() { return {kEveryLayer, 0, false, kEveryHeadAfter}; }
  std::string Text() const;
  bool operator==(const HeadName&) const = default;
  auto operator<=>(const HeadName&) const = default;  // NOLINT(modernize-use-nullptr): no 0
};

// Multiplies the attention weights of the chosen rows on the passage's tokens by `factor` (arXiv
// 2406.02536, section 4.3 "manually double the attention weights"). As the paper says, a row then
// no longer sums to 1, unless `renormalise` is set.
struct Boost {
  TokenSpan span;  // like Crop::span
  double factor = 2;
  bool renormalise = false;
  LayerSet layers;
  RowChoice rows;
  std::vector<HeadName> heads = {HeadName::All()};  // sorted, without duplicates
  bool operator==(const Boost&) const = default;
};

enum class AblateWith {
  kZero,
  kMean,  // row i's output becomes the mean of the head's outputs in rows 0 .. i of this run
};

// Replaces the outputs of heads (hook_z) by zeros or means.
struct Ablation {
  std::vector<HeadName> heads;  // sorted, without duplicates
  AblateWith with = AblateWith::kZero;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Ablation&) const = default;
};

// Divides the attention logits of heads, after soft cap and ALiBi, by `temperature`.
struct Temperature {
  std::vector<HeadName> heads;  // sorted, without duplicates
  double temperature = 1;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Temperature&) const = default;
};

struct Intervention {
  // The terms, ordered by type as in core/terms/terms.h; terms of one type in the order of
  // addition.
  std::vector<Term> terms;

  // Inserts the term after those of its type. A position scheme replaces an existing one.
  void Add(Term term);
  // Returns the first term's value of type T, or null if there is none.
  template <typename T>
  const T* Find() const {
    for (const Term& term : terms) {
      if (const T* value = term.As<T>()) return value;
    }
    return nullptr;
  }
  // Returns the values of all terms of type T, in order.
  template <typename T>
  std::vector<T> All() const {
    std::vector<T> values;
    for (const Term& term : terms) {
      if (const T* value = term.As<T>()) values.push_back(*value);
    }
    return values;
  }
  // Calls change(value) for the value of each term of type T, in order.
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
  // Removes the terms whose values are of type T.
  template <typename T>
  void Remove() {
    std::erase_if(terms, [](const Term& term) { return term.As<T>() != nullptr; });
  }

  bool empty() const { return terms.empty(); }
  bool operator==(const Intervention&) const = default;
};

}  // namespace midscope
