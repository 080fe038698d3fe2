// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/stream_parts.h"

#include <algorithm>
#include <cmath>

namespace midscope {
namespace {

// Returns all elements of the view's first row.
std::vector<float> FirstRow(const HookView& view) {
  std::vector<float> row;
  row.reserve(static_cast<size_t>(view.shape[2] * view.shape[3]));
  for (int64_t i = 0; i < view.shape[2]; ++i) {
    for (int64_t j = 0; j < view.shape[3]; ++j) row.push_back(view.At(0, 0, i, j));
  }
  return row;
}

}  // namespace

StreamParts::StreamParts(const ModelConfig& config, bool values)
    : config_(config), with_values_(values) {
  for (auto* of_layers : {&z_, &mlp_out_, &mixer_out_, &values_})
    of_layers->resize(static_cast<size_t>(config.layers));
}

HookRequest StreamParts::Request(const HookPoint& point, const SequenceInfo& sequence) {
  const HookRequest last = {HookAccess::kRead,
                            {sequence.prompt_tokens - 1, sequence.prompt_tokens}};
  switch (point.site) {
    case HookSite::kEmbed:
    case HookSite::kZ:
    case HookSite::kMlpOut:
    case HookSite::kLayerInputOut:
      return last;
    case HookSite::kAttentionOut:
      return config_.HasAttention(point.layer) ? HookRequest{} : last;
    case HookSite::kResidPost:
      return point.layer + 1 == config_.layers ? last : HookRequest{};
    case HookSite::kValue: {
      if (!with_values_ || config_.SharesKeys(point.layer)) return {};
      const int64_t width = config_.KeyWidth(point.layer);
      values_[static_cast<size_t>(point.layer)].resize(
          static_cast<size_t>(sequence.prompt_tokens * width));
      return {HookAccess::kRead, {0, sequence.prompt_tokens}};
    }
    default:
      return {};
  }
}

void StreamParts::OnActivation(HookView& view) {
  const auto layer = static_cast<size_t>(std::max<int64_t>(view.point.layer, 0));
  switch (view.point.site) {
    case HookSite::kEmbed:
      embedding_ = FirstRow(view);
      break;
    case HookSite::kZ:
      z_[layer] = FirstRow(view);
      break;
    case HookSite::kMlpOut:
      mlp_out_[layer] = FirstRow(view);
      break;
    case HookSite::kAttentionOut:
      mixer_out_[layer] = FirstRow(view);
      break;
    case HookSite::kLayerInputOut: {
      const std::vector<float> added = FirstRow(view);
      for (size_t i = 0; i < added.size(); ++i) mlp_out_[layer][i] += added[i];
      break;
    }
    case HookSite::kResidPost:
      last_stream_ = FirstRow(view);
      break;
    default:
      ReadValues(view);
  }
}

namespace {

// Divides a head's value by its root mean square, as the model does.
void NormaliseHead(const ModelConfig& config, std::span<float> value) {
  double squares = 0;
  for (const float x : value) squares += static_cast<double>(x) * x;
  const double mean = squares / static_cast<double>(value.size());
  const double scale = 1 / std::sqrt(mean + config.norm_epsilon);
  for (float& x : value) x = static_cast<float>(x * scale);
}

}  // namespace

void StreamParts::ReadValues(const HookView& view) {
  const auto limit = static_cast<float>(config_.clip_qkv);
  float* out = values_[static_cast<size_t>(view.point.layer)].data() +
               view.first_row * config_.KeyWidth(view.point.layer);
  for (int64_t row = 0; row < view.rows(); ++row) {
    for (int64_t head = 0; head < view.shape[2]; ++head) {
      for (int64_t i = 0; i < view.shape[3]; ++i) {
        const float value = view.At(0, row, head, i);
        *out++ = limit > 0 ? std::clamp(value, -limit, limit) : value;
      }
      if (config_.value_norm) NormaliseHead(config_, std::span(out - view.shape[3], out));
    }
  }
}

std::span<const float> StreamParts::Z(int64_t layer) const {
  return z_[static_cast<size_t>(layer)];
}

std::span<const float> StreamParts::MlpOut(int64_t layer) const {
  return mlp_out_[static_cast<size_t>(layer)];
}

std::span<const float> StreamParts::MixerOut(int64_t layer) const {
  return mixer_out_[static_cast<size_t>(layer)];
}

std::span<const float> StreamParts::Values(int64_t layer) const {
  return values_[static_cast<size_t>(config_.KeysOf(layer))];
}

}  // namespace midscope
