// SPDX-License-Identifier: MIT
// What to change in a run, as a value: one position scheme and any number of channel scalings. One
// line of text says it everywhere (grammar: intervention_text.h); the decoder compiles it to
// attention plans (attention_plan.h).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

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

  bool Contains(int64_t layer) const;
  // "all", "8-25", "[2-8,12]".
  std::string Text() const;
  bool operator==(const LayerSet&) const = default;
};

struct NoScheme {
  bool operator==(const NoScheme&) const = default;
};

// Position interpolation: every position divided by `ratio`.
struct PositionInterpolation {
  double ratio = 1.5;
  bool operator==(const PositionInterpolation&) const = default;
};

enum class MsPoeMode { kRank, kCode, kGroup };
// kScore: the most position-aware head gets `min`. kScoreReversed: it gets `max`. kSequential: head
// 0 gets `min`. kReversed: head 0 gets `max` (the public code's head_type "normal", with the mode's
// divisor).
enum class MsPoeOrder { kScore, kScoreReversed, kSequential, kReversed };

// Ms-PoE (arXiv 2403.04797; departures of its public code: seed-facts A.3). Positions of a head are
// divided by its ratio.
struct MsPoe {
  double min = 1.2;
  double max = 1.8;
  MsPoeMode mode = MsPoeMode::kRank;
  MsPoeOrder order = MsPoeOrder::kScore;
  LayerSet layers{
      false, {{2, kEveryLayerAfter}}};  // the public scripts' first_layer = 2; the paper says all
  bool operator==(const MsPoe&) const = default;
};

using PositionScheme = std::variant<NoScheme, PositionInterpolation, MsPoe>;

enum class ChannelRows {
  kAnswer,  // the last prompt row and every scored or generated row (the public code)
  kLast,    // the last prompt row alone (the paper's words)
  kLastN,   // the last n prompt rows, and every scored or generated row
  kAll,     // every row
};

// Positional channel scaling (arXiv 2406.02536; seed-facts D): in the listed layers the chosen
// rows' queries, and all keys that those rows see, come from the normalised input with `channel`
// multiplied by `factor`; values stay clean.
struct ChannelScaling {
  int64_t channel = 0;
  double factor = 1.0;
  LayerSet layers;
  ChannelRows rows = ChannelRows::kAnswer;
  int64_t last_rows = 1;  // n of kLastN
  bool operator==(const ChannelScaling&) const = default;
};

struct Intervention {
  PositionScheme positions;
  std::vector<ChannelScaling> channels;

  bool empty() const { return std::holds_alternative<NoScheme>(positions) && channels.empty(); }
  bool operator==(const Intervention&) const = default;
};

}  // namespace midscope
