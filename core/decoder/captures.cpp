// SPDX-License-Identifier: MIT
#include "core/decoder/captures.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace midscope {
namespace {

HookRequest Read(int64_t first, int64_t last) { return {HookAccess::kRead, {first, last}}; }

// Copies the view's weights to its layer in `weights` [layer, head, key]; the view is float32 with
// adjacent keys.
void KeepPattern(const HookView& view, int64_t heads, int64_t keys, std::vector<float>& weights) {
  for (int64_t head = 0; head < heads; ++head) {
    const float* source = static_cast<const float*>(view.data) + head * view.strides[1];
    std::copy(source, source + keys, weights.data() + (view.point.layer * heads + head) * keys);
  }
}

}  // namespace

HookRequest LastQueryAttention::Request(const HookPoint& point, const SequenceInfo& sequence) {
  if (point.site != HookSite::kPattern) return {};
  if (keys_ != sequence.prompt_tokens) {
    keys_ = sequence.prompt_tokens;
    attention_.assign(static_cast<size_t>(layers_ * heads_ * keys_), 0.0f);
  }
  return Read(sequence.prompt_tokens - 1, sequence.prompt_tokens);
}

void LastQueryAttention::OnActivation(HookView& view) {
  KeepPattern(view, heads_, keys_, attention_);
}

std::span<const float> LastQueryAttention::Row(int64_t layer, int64_t head) const {
  return std::span(attention_)
      .subspan(static_cast<size_t>((layer * heads_ + head) * keys_), static_cast<size_t>(keys_));
}

HookRequest PositionAwareness::Request(const HookPoint& point, const SequenceInfo& sequence) {
  if (point.site != HookSite::kPatternUnrotated) return {};
  if (keys_ != sequence.prompt_tokens) {
    keys_ = sequence.prompt_tokens;
    weights_.assign(static_cast<size_t>(layers_ * heads_ * keys_), 0.0f);
  }
  return Read(sequence.prompt_tokens - 1, sequence.prompt_tokens);
}

void PositionAwareness::OnActivation(HookView& view) { KeepPattern(view, heads_, keys_, weights_); }

std::vector<int64_t> PositionAwareness::attended_keys(
    const kernels::AwarenessThreshold& threshold) const {
  std::vector<int64_t> counts(static_cast<size_t>(layers_ * heads_), 0);
  if (keys_ > 0) {
    kernels::CountAttendedKeys(weights_.data(), layers_ * heads_, keys_, threshold, counts.data());
  }
  return counts;
}

std::vector<float> PositionAwareness::score(const kernels::AwarenessThreshold& threshold) const {
  const std::vector<int64_t> counts = attended_keys(threshold);
  std::vector<float> scores(counts.size());
  std::transform(counts.begin(), counts.end(), scores.begin(), [this](int64_t count) {
    return static_cast<float>(static_cast<double>(count) / static_cast<double>(keys_));
  });
  return scores;
}

std::vector<uint8_t> PositionAwareness::counted_keys(
    const kernels::AwarenessThreshold& threshold) const {
  std::vector<uint8_t> counted(weights_.size());
  for (int64_t row = 0; keys_ > 0 && row < layers_ * heads_; ++row) {
    kernels::MarkAttendedKeys(weights_.data() + row * keys_, keys_, threshold,
                              counted.data() + row * keys_);
  }
  return counted;
}

HiddenChannels::HiddenChannels(const ModelConfig& config, std::vector<int64_t> channels)
    : layers_(config.layers), channels_(std::move(channels)) {}

HookRequest HiddenChannels::Request(const HookPoint& point, const SequenceInfo& sequence) {
  if (point.site != HookSite::kResidPost) return {};
  if (positions_ != sequence.rows) {
    positions_ = sequence.rows;
    values_.assign(static_cast<size_t>(layers_ * positions_) * channels_.size(), 0.0f);
  }
  return Read(0, sequence.rows);
}

void HiddenChannels::OnActivation(HookView& view) {
  for (size_t index = 0; index < channels_.size(); ++index) {
    float* values = values_.data() + (view.point.layer * static_cast<int64_t>(channels_.size()) +
                                      static_cast<int64_t>(index)) *
                                         positions_;
    for (int64_t row = 0; row < view.shape[1]; ++row) {
      values[view.first_row + row] = view.At(0, row, channels_[index]);
    }
  }
}

ResidualRows::ResidualRows(const ModelConfig& config, int64_t last_rows)
    : layers_(config.layers), hidden_(config.hidden), last_rows_(last_rows) {}

ResidualRows::ResidualRows(const ModelConfig& config, std::vector<int64_t> positions)
    : layers_(config.layers), hidden_(config.hidden), positions_(std::move(positions)) {}

HookRequest ResidualRows::Request(const HookPoint& point, const SequenceInfo& sequence) {
  if (point.site != HookSite::kResidPost) return {};
  if (last_rows_ >= 0) {
    const int64_t count = std::min(last_rows_, sequence.prompt_tokens);
    positions_.resize(static_cast<size_t>(count));
    std::iota(positions_.begin(), positions_.end(), sequence.prompt_tokens - count);
  } else {
    std::erase_if(positions_, [&](int64_t row) { return row >= sequence.prompt_tokens; });
  }
  values_.resize(static_cast<size_t>(layers_ * rows() * hidden_), 0.0f);
  if (positions_.empty()) return {};
  return Read(positions_.front(), positions_.back() + 1);
}

void ResidualRows::OnActivation(HookView& view) {
  const int64_t end = view.first_row + view.rows();
  for (size_t index = 0; index < positions_.size(); ++index) {
    const int64_t row = positions_[index];
    if (row < view.first_row || row >= end) continue;
    float* values =
        values_.data() + (view.point.layer * rows() + static_cast<int64_t>(index)) * hidden_;
    for (int64_t i = 0; i < hidden_; ++i) values[i] = view.At(0, row - view.first_row, i);
  }
}

}  // namespace midscope
