// SPDX-License-Identifier: MIT
// One layer's settings for the positions and inputs of attention: the only part of an intervention
// that is passed to the attention kernels. It also includes edits of the residual stream after the
// layer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/intervention/patch.h"
#include "core/model/model_config.h"
#include "core/plan/attention_edits.h"
#include "kernels/position_awareness.h"

namespace midscope {

// Values of kind `what` that one layer takes from another run, in the rows `taken.rows`.
// decoder/patch_hook.h inserts them.

struct RowPatch {
  PatchWhat what = PatchWhat::kResid;
  TakenRows taken;
  // [query head], 0 for heads that are unchanged; empty: all heads. For k and v, the key heads that
  // a selected head reads are replaced.
  std::vector<uint8_t> heads;
  bool operator==(const RowPatch&) const = default;
};

// Returns the first row whose values in the layer change; INT64_MAX if none does.
int64_t FirstPatchedRow(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after);

// Whether the patches of q or k differ, from which heads' ratios may be computed.
bool PatchedScoresDiffer(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after);

// Edits of the residual stream after one block. They name rows of one sequence and are a member of
// the block's AttentionPlan (attention_plan.h).

// A vector that is added to the stream of `rows`.
struct AddedVector {
  RowRange rows;
  std::vector<float> values;  // [hidden]
  bool operator==(const AddedVector&) const = default;
};

// In the stream of `rows`, the channel is set to `value` or to its mean over the prompt's rows.
struct SetChannel {
  RowRange rows;
  int64_t channel = 0;
  std::optional<double> value;  // nullopt: the mean
  bool operator==(const SetChannel&) const = default;
};

// Vectors are added first. Means are then taken of the stream, in float64, before any channel is
// set.
struct ResidualPlan {
  std::vector<AddedVector> added;
  std::vector<SetChannel> set;
  bool empty() const { return added.empty() && set.empty(); }
  // Whether a channel is set to its mean; each row then depends on all of the prompt's rows.
  bool TakesMeans() const;
  bool operator==(const ResidualPlan&) const = default;
};

// Returns the first row whose stream changes, given the same output of the block; INT64_MAX if none
// does. Means need all of the prompt's rows: if `after` takes a mean that `before` does not, that
// is row 0.
int64_t FirstChangedRow(const ResidualPlan& before, const ResidualPlan& after);

// How the heads' position ratios are computed; most rules need the last prompt query (Ms-PoE).
struct RatioRule {
  MsPoe scheme;
  int64_t layer = 0;  // for order random: each layer has its own permutation
  bool operator==(const RatioRule&) const = default;
};

struct ScaledChannel {
  int64_t channel = 0;
  double factor = 1.0;
  bool change_value = false;
  bool operator==(const ScaledChannel&) const = default;
};

// In the layer's rows [first_row, last_row), q and the keys that these rows see are computed from
// the normalised input with `channels` scaled. The values that they see use the scaled input only
// for channels with change_value. last_row is the sequence's end unless the intervention specifies
// otherwise.
struct RowOverride {
  int64_t first_row = 0;
  int64_t last_row = INT64_MAX;
  std::vector<ScaledChannel> channels;
  bool operator==(const RowOverride&) const = default;
};

// Self-Extend's rule: at a distance i - j < window, the plan's own positions hold; further away,
// query i is at floor(i / group) + window - floor(window / group) and key j at floor(j / group). If
// rows are given position ids, i and j are these ids, also in the distance.
struct NearFarRule {
  int64_t group = 1;
  int64_t window = 1;
  bool operator==(const NearFarRule&) const = default;
};

// Infini-attention's segments and memory.
struct CompressiveMemory {
  int64_t segment = 0;        // tokens
  std::vector<double> gates;  // [head]: share of the memory's output
  MemoryUpdate update = MemoryUpdate::kLinear;
  bool operator==(const CompressiveMemory&) const = default;
};

// If only some rows see a position scheme: those rows, and the model's own rotation, which holds
// for all others (at ratio 1, for near and far keys alike). `rows` includes the last prompt row.
struct SchemeRows {
  RowRange rows;
  std::vector<double> own_inverse_frequency;
  double own_magnitude = 1.0;
  bool own_ids = false;  // the other rows do not see the given position ids either
  bool operator==(const SchemeRows&) const = default;
};

struct AttentionPlan {
  // Position ids of the rows, before ratios and near_far are applied. With learned positions, set
  // in the first layer only, for the embeddings below it.
  PositionIds position_ids;
  std::vector<double> inverse_frequency;  // [rotary pairs], radians per position; empty: unrotated
  double magnitude = 1.0;                 // factor of cos and sin (YaRN's temperature)
  std::vector<double> q_ratio;            // [head]: divides the positions of its queries
  std::vector<double> k_ratio;            // [head]: divides the positions of the keys that it sees
  double logit_scale = 1.0;
  // If > 0, the query at position id i is multiplied by max(1, ln(i + 1) / ln(log_scale_base))
  // (QueryScale).
  int64_t log_scale_base = 0;
  int64_t window = 0;  // number of keys that a query sees, including its own; 0: all
  int64_t chunk = 0;   // rows per chunk; a query sees only keys of its own chunk; 0: all
  double softcap = 0;  // soft cap of the logits; 0: none
  std::vector<float> alibi_slopes;  // [head]; empty: none
  std::optional<RatioRule>
      ratio_rule;  // if set, q_ratio and k_ratio are filled in once the last prompt query is known
  std::optional<NearFarRule> near_far;
  // If not set, the members above hold for every row. If set, see PlanOfRow (row_plans.h).
  std::optional<SchemeRows> scheme_rows;
  std::optional<CompressiveMemory> memory;
  std::optional<RowOverride> row_override;
  AttentionEdits edits;
  std::vector<RowPatch> patches;  // applied in this order: a later one overrides
  // Edits of the stream after the block; attention does not read them.
  ResidualPlan residual;
  bool operator==(const AttentionPlan&) const = default;
};

// Returns one plan per layer, for a sequence of `tokens` tokens, the first prompt_tokens of which
// are the prompt (0: all). The length matters if the model's own frequencies (rope_frequencies.h)
// or the scheme (dynamic-ntk, dynamic-linear) depend on it; if position ids are given, the largest
// id + 1 replaces it, as in transformers. Throws Error (usage) if the intervention does not fit the
// model: a layer, channel or row out of range, a position scheme for a model without rotation
// (ALiBi), ratios for another number of heads, a missing token or passage, tokens moved twice. In a
// model with rotated and unrotated layers, unrotated layers keep ratio 1.
std::vector<AttentionPlan> CompilePlans(const Intervention& intervention, const ModelConfig& config,
                                        int64_t prompt_tokens, int64_t tokens = 0);

// Returns ALiBi's slopes [head] as in MPT: 2^(-max_bias i / n) for i = 1 .. n, where n is the
// smallest power of two not below `heads`. If n is not `heads`, every second slope comes first
// (transformers' build_mpt_alibi_tensor).
std::vector<float> AlibiSlopes(int64_t heads, double max_bias);

// Ratios of heads, assigned by their scores [head] and the rule's mode and order; among equal
// scores the lower head comes first. Scores are counts of attended keys
// (kernels/position_awareness.h), or for order entropy the entropies of the last row; the orders
// sequential, reversed and random do not use them. In mode `group`, the scores of heads that share
// keys are summed. q and k differ only in mode `code` with grouped key heads. Heads whose entropies
// are equal except for rounding, or whose counts are near the threshold, may swap ratios between
// machines.
struct HeadRatios {
  std::vector<double> q;  // [head]
  std::vector<double> k;  // [head]
};
HeadRatios ResolveRatios(const RatioRule& rule, std::span<const int64_t> attended_keys,
                         int64_t key_value_heads);
HeadRatios ResolveRatios(const RatioRule& rule, std::span<const double> scores,
                         int64_t key_value_heads);

// Like ResolveRatios, but computes the scores from the last prompt query's attention weights before
// rotation [heads, keys].
HeadRatios ResolveRatiosOfRow(const RatioRule& rule, const float* last_row, int64_t keys,
                              int64_t heads, int64_t key_value_heads);

// Returns the threshold by which Ms-PoE's position-awareness score counts keys. The public code
// counts keys above it, the paper those that reach it; the score follows the intervention's choice
// and its alpha of Ms-PoE.
kernels::AwarenessThreshold AwarenessRule(const Intervention& intervention);

// Like AwarenessRule above, for the value of a Ms-PoE term.
kernels::AwarenessThreshold AwarenessRule(const MsPoe& scheme);

// Whether the rule needs no scores: order sequential, reversed or random.
bool RatiosAreFixed(const RatioRule& rule);

// Returns, for each head, the value of the first head that shares its keys: [head]. In mode `code`,
// keys are rotated by this ratio.
std::vector<double> FirstOfGroup(std::span<const double> of_heads, int64_t key_value_heads);

// The factor of a query that grows with the logarithm of its position id, so that attention over
// more keys stays as sharp: Self-Extend's scale_base (public code of arXiv 2401.01325), EABF (arXiv
// 2401.07004). 1 below `base`; base > 1.
inline double QueryScale(double position, int64_t base) {
  return std::max(1.0, std::log(position + 1) / std::log(static_cast<double>(base)));
}

// The factor with which a model was made (Llama 4's scaling in ministral3 of transformers); 1 below
// the context.
inline double QueryGrowth(double position, const ModelConfig& config) {
  return 1.0 +
         config.query_growth * std::log(1.0 + std::floor(position / config.query_growth_context));
}

}  // namespace midscope
