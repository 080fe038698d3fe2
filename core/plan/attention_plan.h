// SPDX-License-Identifier: MIT
// One layer's settings for the positions and inputs of attention: the only part of an intervention
// that is passed to the attention kernels. Edits of the stream after the layer are included.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/intervention/patch.h"
#include "core/model/model_config.h"
#include "core/plan/attention_edits.h"

namespace midscope {

// Values that one layer takes from another run: those of `what` in `taken.rows`.
// decoder/patch_hook.h inserts them.

struct RowPatch {
  PatchWhat what = PatchWhat::kResid;
  TakenRows taken;
  // [query head], 0 for those that are left alone; empty: all. For k and v, the key heads that one
  // of these reads are replaced.
  std::vector<uint8_t> heads;
  bool operator==(const RowPatch&) const = default;
};

// The first row that comes out differently in the layer; INT64_MAX where none does.
int64_t FirstPatchedRow(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after);

// Whether q or k differ, of which ratios of heads may be made.
bool PatchedScoresDiffer(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after);

// Edits of the residual stream after one block: values that name rows of one sequence. They are a
// member of the block's AttentionPlan (attention_plan.h).

// Added to the stream of `rows`.
struct AddedVector {
  RowRange rows;
  std::vector<float> values;  // [hidden]
  bool operator==(const AddedVector&) const = default;
};

// The channel's value in the stream of `rows` becomes `value`, or its mean over the prompt's rows.
struct SetChannel {
  RowRange rows;
  int64_t channel = 0;
  std::optional<double> value;  // none: the mean
  bool operator==(const SetChannel&) const = default;
};

// Vectors are added first; means are those of the stream after that, in float64, and before any
// channel is set.
struct ResidualPlan {
  std::vector<AddedVector> added;
  std::vector<SetChannel> set;
  bool empty() const { return added.empty() && set.empty(); }
  // Then a row depends on all of the prompt's.
  bool TakesMeans() const;
  bool operator==(const ResidualPlan&) const = default;
};

// The first row whose stream comes out differently from the same block; INT64_MAX where none does.
// Means need all of the prompt's rows: where `after` takes one that `before` does not, that is row
// 0.
int64_t FirstChangedRow(const ResidualPlan& before, const ResidualPlan& after);

// Heads' position ratios, most of which are known only when the last prompt query is (Ms-PoE).
struct RatioRule {
  MsPoe scheme;
  int64_t layer = 0;  // order random: each has a permutation of its own
  bool operator==(const RatioRule&) const = default;
};

struct ScaledChannel {
  int64_t channel = 0;
  double factor = 1.0;
  bool change_value = false;
  bool operator==(const ScaledChannel&) const = default;
};

// The layer's rows from `first_row` on take q, and the keys that they see, from the normalised
// input with `channels` scaled; the v that they see too for channels with change_value, else it is
// clean. Rows in [first_row, last_row) only; last_row is the sequence's end unless the intervention
// specifies otherwise.
struct RowOverride {
  int64_t first_row = 0;
  int64_t last_row = INT64_MAX;
  std::vector<ScaledChannel> channels;
  bool operator==(const RowOverride&) const = default;
};

// Self-Extend's rule: at distance i - j < window the plan's own positions; further away query i
// is at floor(i / group) + window - floor(window / group) and key j at floor(j / group). Where rows
// are given position ids, i and j are those, in the distance too.
struct NearFarRule {
  int64_t group = 1;
  int64_t window = 1;
  bool operator==(const NearFarRule&) const = default;
};

// Infini-attention's segments and memory.
struct CompressiveMemory {
  int64_t segment = 0;        // tokens
  std::vector<double> gates;  // [head]: share of the memory
  MemoryUpdate update = MemoryUpdate::kLinear;
  bool operator==(const CompressiveMemory&) const = default;
};

// Where only some rows see a position scheme: those, and the model's own rotation, which all others
// have (at ratio 1, near and far alike). The rows hold the last prompt row.
struct SchemeRows {
  RowRange rows;
  std::vector<double> own_inverse_frequency;
  double own_magnitude = 1.0;
  bool own_ids = false;  // the others are not given the position ids either
  bool operator==(const SchemeRows&) const = default;
};

struct AttentionPlan {
  // Position ids of the rows, before ratios and near_far act on them. Learned positions: in the
  // first layer only, for the embeddings below it.
  PositionIds position_ids;
  std::vector<double> inverse_frequency;  // [rotary pairs], radians per position; empty: unrotated
  double magnitude = 1.0;                 // factor of cos and sin (YaRN's temperature)
  std::vector<double> q_ratio;            // [head]: divides the positions of its queries
  std::vector<double> k_ratio;            // [head]: divides the positions of the keys it sees
  double logit_scale = 1.0;
  // > 0: the query at position id i is multiplied by max(1, ln(i + 1) / ln(log_scale_base))
  // (query_scale.h).
  int64_t log_scale_base = 0;
  int64_t window = 0;               // keys that a query sees, itself included; 0: all
  int64_t chunk = 0;                // rows of which a query sees those of its own chunk; 0: all
  double softcap = 0;               // of the logits; 0: none
  std::vector<float> alibi_slopes;  // [head]; empty: none
  std::optional<RatioRule>
      ratio_rule;  // set: q_ratio and k_ratio are filled in when the last prompt query is known
  std::optional<NearFarRule> near_far;
  // Not set: all of the above holds for every row. Set: see PlanOfRow (row_plans.h).
  std::optional<SchemeRows> scheme_rows;
  std::optional<CompressiveMemory> memory;
  std::optional<RowOverride> row_override;
  AttentionEdits edits;
  std::vector<RowPatch> patches;  // in this order: a later one wins
  // Edits of the stream after the block; attention does not read them.
  ResidualPlan residual;
  bool operator==(const AttentionPlan&) const = default;
};

// One plan per layer, for a sequence of `tokens` tokens, of which the prompt is the first
// prompt_tokens (0: all are prompt). The length matters where the model's own frequencies depend on
// it (rope_frequencies.h) or the scheme does (dynamic-ntk, dynamic-linear); where position ids are
// given, the largest id + 1 replaces it, as in transformers. Throws Error (usage) where the model
// cannot take the intervention: a layer, channel or row out of range, a position scheme for a model
// that rotates nothing (ALiBi), ratios for another number of heads, a token or passage that is not
// there, tokens moved twice. Layers that are not rotated in a model of which others are keep ratio
// 1.
std::vector<AttentionPlan> CompilePlans(const Intervention& intervention, const ModelConfig& config,
                                        int64_t prompt_tokens, int64_t tokens = 0);

// ALiBi's slopes [head] as MPT has them: 2^(-max_bias i / n) for i = 1 .. n, n the power of two not
// below `heads`; where n is not `heads`, every other slope first (transformers'
// build_mpt_alibi_tensor).
std::vector<float> AlibiSlopes(int64_t heads, double max_bias);

// Ratios of heads by their scores [head], by the rule's mode and order; ties go to the lower head.
// Scores: counts of attended keys (kernels/position_awareness.h), and for order entropy the
// entropies of the last row; sequential, reversed and random do not look at them. In mode `group`
// scores of heads that share keys are summed. q_ratio and k_ratio differ in mode `code` with
// grouped key heads only. Entropies that are equal except for rounding may swap ratios between
// machines, as counts near the threshold may.
struct HeadRatios {
  std::vector<double> q;  // [head]
  std::vector<double> k;  // [head]
};
HeadRatios ResolveRatios(const RatioRule& rule, std::span<const int64_t> attended_keys,
                         int64_t key_value_heads);
HeadRatios ResolveRatios(const RatioRule& rule, std::span<const double> scores,
                         int64_t key_value_heads);

// As above, from the input of scores: the last prompt query's attention weights before rotation
// [heads, keys].
HeadRatios ResolveRatiosOfRow(const RatioRule& rule, const float* last_row, int64_t keys,
                              int64_t heads, int64_t key_value_heads);

// True when the rule needs no scores: order sequential, reversed or random.
bool RatiosAreFixed(const RatioRule& rule);

// The value of each head's first head of those that share its keys [head]: the ratio that mode
// `code` rotates the keys by.
std::vector<double> FirstOfGroup(std::span<const double> of_heads, int64_t key_value_heads);

}  // namespace midscope
