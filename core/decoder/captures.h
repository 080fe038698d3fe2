// SPDX-License-Identifier: MIT
// Hooks that the program itself uses. Each stores the activations that it reads; memory is linear
// in the prompt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/decoder/hooks.h"
#include "core/model/model_config.h"
#include "kernels/position_awareness.h"

namespace midscope {

// Captures the attention weights of the last prompt query over all keys up to its own: [layer,
// head, key], with prompt_tokens keys. Under Infini-attention it covers the query's own segment,
// multiplied by 1 - gate if there is an earlier segment. The memory's part belongs to no key, so a
// row then sums to 1 minus the gate.
class LastQueryAttention : public Hook {
 public:
  explicit LastQueryAttention(const ModelConfig& config)
      : layers_(config.layers), heads_(config.heads) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  int64_t keys() const { return keys_; }
  const std::vector<float>& attention() const { return attention_; }
  std::span<const float> Row(int64_t layer, int64_t head) const;

 private:
  int64_t layers_;
  int64_t heads_;
  int64_t keys_ = 0;
  std::vector<float> attention_;
};

// Captures the attention weights from which Ms-PoE's position-awareness score is computed, of q and
// k before rotation. They are stored, so that keys can be counted with any threshold.
class PositionAwareness : public Hook {
 public:
  explicit PositionAwareness(const ModelConfig& config,
                             const kernels::AwarenessThreshold& threshold = {})
      : layers_(config.layers), heads_(config.heads), threshold_(threshold) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  int64_t keys() const { return keys_; }
  // Returns the score [layer, head]: number of attended keys / prompt_tokens.
  std::vector<float> score(const kernels::AwarenessThreshold& threshold) const;
  std::vector<float> score() const { return score(threshold_); }
  // Returns [layer, head]: the number of attended keys.
  std::vector<int64_t> attended_keys(const kernels::AwarenessThreshold& threshold) const;
  std::vector<int64_t> attended_keys() const { return attended_keys(threshold_); }
  // Returns [layer, head, key]: whether the key is attended.
  std::vector<uint8_t> counted_keys(const kernels::AwarenessThreshold& threshold) const;

 private:
  int64_t layers_;
  int64_t heads_;
  kernels::AwarenessThreshold threshold_;
  int64_t keys_ = 0;
  std::vector<float> weights_;  // [layer, head, key]
};

// Captures chosen channels of the residual stream after every block, at every position: [layer,
// channel, position].
class HiddenChannels : public Hook {
 public:
  HiddenChannels(const ModelConfig& config, std::vector<int64_t> channels);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  int64_t positions() const { return positions_; }
  const std::vector<int64_t>& channels() const { return channels_; }
  const std::vector<float>& values() const { return values_; }

 private:
  int64_t layers_;
  std::vector<int64_t> channels_;
  int64_t positions_ = 0;
  std::vector<float> values_;
};

// Captures rows of the residual stream after every block: [layer, row, hidden].
class ResidualRows : public Hook {
 public:
  // Stores the last `last_rows` prompt rows.
  ResidualRows(const ModelConfig& config, int64_t last_rows);
  // Stores the rows at `positions`, sorted, without duplicates and positions outside the prompt.
  ResidualRows(const ModelConfig& config, std::vector<int64_t> positions);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;
  int64_t rows() const { return static_cast<int64_t>(positions_.size()); }
  // Returns the position of each stored row: [row].
  const std::vector<int64_t>& positions() const { return positions_; }
  const std::vector<float>& values() const { return values_; }

 private:
  int64_t layers_;
  int64_t hidden_;
  int64_t last_rows_ = -1;  // -1: `positions_` was passed instead
  std::vector<int64_t> positions_;
  std::vector<float> values_;
};

}  // namespace midscope
