// SPDX-License-Identifier: MIT
// Hook points: named places in the computation, under TransformerLens' names and shapes, that a
// hook may read or change.
//
// A hook first states which points and rows it requests; nothing else is computed or copied. The
// attention pattern exists for requested rows only: an array of tokens x tokens is never made.
//
// clang-format off
//   hook_embed                                [1, pos, d_model]
//   blocks.{i}.hook_resid_pre                 [1, pos, d_model]
//   blocks.{i}.ln1.hook_normalized            [1, pos, d_model]       the input of q, k and v
//   blocks.{i}.attn.hook_q, hook_k, hook_v    [1, pos, head, d_head]  before rotation
//   blocks.{i}.attn.hook_rot_k                [1, pos, head, d_head]  as the last prompt query sees them
//   blocks.{i}.attn.hook_pattern_unrotated    [1, head, query, key]   of q, k before rotation
//   blocks.{i}.attn.hook_rot_q                [1, pos, head, d_head]  after rotation
//   blocks.{i}.attn.hook_pattern              [1, head, query, key]
//   blocks.{i}.attn.hook_effective_pattern    [1, head, query, key]   in layers with a mixer
//   blocks.{i}.attn.hook_z                    [1, pos, head, d_head]
//   blocks.{i}.hook_attn_out, hook_resid_mid  [1, pos, d_model]
//   blocks.{i}.ln2.hook_normalized            [1, pos, d_model]
//   blocks.{i}.mlp.hook_expert_weights        [1, pos, expert]        0: not chosen
//   blocks.{i}.mlp.hook_post                  [1, pos, d_mlp]         not in layers of experts alone
//   blocks.{i}.hook_mlp_out                   [1, pos, d_model]
//   blocks.{i}.hook_layer_input_out           [1, pos, d_model]       only with per-layer embeddings
//   blocks.{i}.hook_resid_post                [1, pos, d_model]       with `vector`, `set`
//   ln_final.hook_normalized                  [1, pos, d_model]       rows with logits only
// clang-format on
//
// ln1.hook_normalized has the norm's weight applied. hook_pattern_unrotated, from which Ms-PoE's
// scores are computed, is not in TransformerLens. hook_rot_q and hook_rot_k are float32 and
// read-only: the factors of the logits, after norm, clamp, scaled channels and query scale.
// hook_rot_k has one head per query head (in TransformerLens per key-value head), because a scheme
// may rotate a shared key differently for each; its rows are keys as the last prompt query sees
// them. With moved passages, scaled channels and Self-Extend, other queries see different keys. A
// key that is far by Self-Extend's rule is turned so that its product with hook_rot_q is the logit.
// Without rotation (ALiBi, layers without positions), both are the finished q and k.
// hook_effective_pattern, float32 and read-only, exists in layers with a delta rule or a state
// space: a row's output is the sum of all rows' values times these weights, per head with a matrix,
// before norm and gate. A state space's weights include its steps and, for the row itself, its
// direct part. Weights may be negative; their sum is not 1. Values are outputs of the convolution,
// so they depend on several rows. (In TransformerLens: compute_ssm_effective_attention.) A run
// whose hooks request it computes every row, even if a trace has them. In a layer with attention
// and a mixer (falcon_h1), hook_attn_out is the sum of both outputs. hook_embed is the input of
// layer 0: including learned positions (gpt2; TransformerLens excludes them) and after a norm of
// the embeddings (bloom). hook_q and hook_k come before a model's norm of q and k (qwen3, gemma3,
// olmo2) and before clamping (mpt); attn_out and mlp_out after an output norm. Models with a
// parallel residual (gpt_neox) have no hook_resid_mid: hooks that request it are not called. Layers
// that read the keys and values of an earlier layer (gemma4) have no hook_k and hook_v; a change in
// that earlier layer also affects them.
//
// hook_layer_input_out is the vector that a layer adds to the residual stream after its MLP, from
// the token's per-layer embedding (gemma4), after its norm; it is not in TransformerLens. A change
// of hook_embed does not change per-layer embeddings.
//
// hook_expert_weights, only in layers with experts, is float32: the factors of the experts'
// outputs. A hook that changes it changes which experts run. (In TransformerLens it holds all
// experts' scores, before the choice.)
//
// Long runs compute some points in chunks of rows: a hook may be called several times for one
// point, with consecutive rows.
//
// Example:
//
// clang-format off
//   class LargestResidual : public Hook {
//    public:
//     HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
//       if (point != HookPoint{HookSite::kResidPost, 12}) return {};
//       return {HookAccess::kRead, {0, sequence.rows}};
//     }
//     void OnActivation(HookView& view) override {
//       for (int64_t row = 0; row < view.rows(); ++row) {
//         for (int64_t i = 0; i < view.shape[2]; ++i) value = std::max(value, view.At(0, row, i));
//       }
//     }
//     float value = 0;
//   };
// clang-format on
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/row_range.h"
#include "kernels/types.h"

namespace midscope {

enum class HookSite {
  kEmbed,
  kResidPre,
  kNormalizedAttention,
  kQuery,
  kKey,
  kValue,
  kRotatedKey,
  kPatternUnrotated,
  kRotatedQuery,
  kPattern,
  kEffectivePattern,
  kZ,
  kAttentionOut,
  kResidMid,
  kNormalizedMlp,
  kExpertWeights,
  kMlpPost,
  kMlpOut,
  kLayerInputOut,
  kResidPost,
  kFinalNormalized,
};

struct HookPoint {
  HookSite site = HookSite::kEmbed;
  int64_t layer = -1;  // -1 for points outside the blocks
  bool operator==(const HookPoint&) const = default;
};

// Returns "blocks.12.attn.hook_pattern".
std::string HookName(const HookPoint& point);
// Parses a hook name. Also accepts the aliases blocks.{i}.hook_out, model.layers.{i} (both:
// resid_post) and model.layers.{i}.self_attn (attn_out).
std::optional<HookPoint> ParseHookName(std::string_view name);

enum class HookAccess { kNone, kRead, kWrite };

struct HookRequest {
  HookAccess access = HookAccess::kNone;
  RowRange rows;
};

// The memory in which a view's data is stored.
enum class MemoryDevice { kCpu, kCuda };

// The part of a hook point's tensor that a hook receives, for one sequence. Element (a, b, c, d) is
// at a * strides[0] + b * strides[1] + ...; the shape of unused dimensions is 1.
struct HookView {
  HookPoint point;
  int64_t sequence = 0;   // index within the batch
  int64_t first_row = 0;  // absolute row of the view's first pos (or query)
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  void* data = nullptr;  // writable only for hooks that requested kWrite
  int dimensions = 0;    // 3 or 4, as listed above
  std::array<int64_t, 4> shape{};
  std::array<int64_t, 4> strides{};          // in elements
  MemoryDevice device = MemoryDevice::kCpu;  // At and Set require kCpu
  int64_t first_head = 0;  // index of the view's first head (for keys and values: key-value head)

  int64_t rows() const { return dimensions == 4 && IsPattern() ? shape[2] : shape[1]; }
  bool IsPattern() const {
    return point.site == HookSite::kPattern || point.site == HookSite::kPatternUnrotated ||
           point.site == HookSite::kEffectivePattern;
  }
  float At(int64_t a, int64_t b, int64_t c, int64_t d = 0) const;
  void Set(int64_t a, int64_t b, int64_t c, int64_t d, float value);
};

struct SequenceInfo {
  int64_t sequence = 0;
  int64_t rows = 0;           // of the whole sequence
  int64_t prompt_tokens = 0;  // the last query is row prompt_tokens - 1
};

class Hook {
 public:
  virtual ~Hook() = default;
  // Called once per point, before the run starts. Rows outside the sequence are ignored.
  virtual HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) = 0;
  // Called during the run with requested rows. The view is only valid during the call.
  virtual void OnActivation(HookView& view) = 0;
};

// The requests of all hooks of one sequence, collected once before a run, so that a pass can look
// up at each point whether a hook reads it.
class HookTable {
 public:
  // Throws Error if a hook would change a point that can only be read.
  HookTable(const std::vector<Hook*>& hooks, int64_t layers, const SequenceInfo& sequence);

  // Returns one range that contains all rows requested by hooks at the point; empty: none.
  RowRange Wanted(HookSite site, int64_t layer) const;
  // Returns the first row that hooks request at any point of the layer from `site` on (in the order
  // of HookSite); kNoRow if none.
  int64_t FirstWanted(HookSite site, int64_t layer) const;
  static constexpr int64_t kNoRow = std::numeric_limits<int64_t>::max();
  // Whether a hook may change the point.
  bool Writes(HookSite site, int64_t layer) const;
  // Whether a hook may change any point.
  bool writes() const { return writes_; }
  // Returns the requested rows of every point at which rows are requested.
  std::map<std::pair<HookSite, int64_t>, RowRange> AllWanted() const;

  // Passes the view to each hook that requested any of its rows, restricted to these rows.
  void Call(HookView view) const;

 private:
  struct Entry {
    Hook* hook;
    HookRequest request;
  };
  const std::vector<Entry>* Find(HookSite site, int64_t layer) const;

  std::map<std::pair<HookSite, int64_t>, std::vector<Entry>> entries_;
  bool writes_ = false;
};

}  // namespace midscope
