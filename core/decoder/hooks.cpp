// SPDX-License-Identifier: MIT
#include "core/decoder/hooks.h"

#include <charconv>
#include <utility>

namespace midscope {
namespace {

// Names of points inside a block, after "blocks.{i}.".
constexpr std::pair<HookSite, std::string_view> kBlockSites[] = {
    {HookSite::kResidPre, "hook_resid_pre"},
    {HookSite::kNormalizedAttention, "ln1.hook_normalized"},
    {HookSite::kQuery, "attn.hook_q"},
    {HookSite::kKey, "attn.hook_k"},
    {HookSite::kValue, "attn.hook_v"},
    {HookSite::kRotatedKey, "attn.hook_rot_k"},
    {HookSite::kPatternUnrotated, "attn.hook_pattern_unrotated"},
    {HookSite::kRotatedQuery, "attn.hook_rot_q"},
    {HookSite::kPattern, "attn.hook_pattern"},
    {HookSite::kEffectivePattern, "attn.hook_effective_pattern"},
    {HookSite::kZ, "attn.hook_z"},
    {HookSite::kAttentionOut, "hook_attn_out"},
    {HookSite::kResidMid, "hook_resid_mid"},
    {HookSite::kNormalizedMlp, "ln2.hook_normalized"},
    {HookSite::kExpertWeights, "mlp.hook_expert_weights"},
    {HookSite::kMlpPost, "mlp.hook_post"},
    {HookSite::kMlpOut, "hook_mlp_out"},
    {HookSite::kLayerInputOut, "hook_layer_input_out"},
    {HookSite::kResidPost, "hook_resid_post"},
};

// Splits "12.rest" into 12 and "rest" (empty if nothing follows).
std::optional<std::pair<int64_t, std::string_view>> SplitLayer(std::string_view text) {
  int64_t layer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layer);
  if (error != std::errc() || layer < 0) return std::nullopt;
  std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  if (!rest.empty()) {
    if (rest.front() != '.') return std::nullopt;
    rest.remove_prefix(1);
    if (rest.empty()) return std::nullopt;
  }
  return std::pair(layer, rest);
}

}  // namespace

std::string HookName(const HookPoint& point) {
  if (point.site == HookSite::kEmbed) return "hook_embed";
  if (point.site == HookSite::kFinalNormalized) return "ln_final.hook_normalized";
  for (const auto& [site, name] : kBlockSites) {
    if (site == point.site)
      return "blocks." + std::to_string(point.layer) + "." + std::string(name);
  }
  return "";
}

std::optional<HookPoint> ParseHookName(std::string_view name) {
  if (name == "hook_embed") return HookPoint{HookSite::kEmbed, -1};
  if (name == "ln_final.hook_normalized") return HookPoint{HookSite::kFinalNormalized, -1};
  constexpr std::string_view kBlocks = "blocks.";
  constexpr std::string_view kHuggingFace = "model.layers.";
  if (name.starts_with(kBlocks)) {
    const auto split = SplitLayer(name.substr(kBlocks.size()));
    if (!split) return std::nullopt;
    if (split->second == "hook_out") return HookPoint{HookSite::kResidPost, split->first};
    for (const auto& [site, site_name] : kBlockSites) {
      if (split->second == site_name) return HookPoint{site, split->first};
    }
  } else if (name.starts_with(kHuggingFace)) {
    const auto split = SplitLayer(name.substr(kHuggingFace.size()));
    if (!split) return std::nullopt;
    if (split->second.empty()) return HookPoint{HookSite::kResidPost, split->first};
    if (split->second == "self_attn") return HookPoint{HookSite::kAttentionOut, split->first};
  }
  return std::nullopt;
}

float HookView::At(int64_t a, int64_t b, int64_t c, int64_t d) const {
  const int64_t offset = a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3];
  switch (dtype) {
    case kernels::Dtype::kFloat32:
      return static_cast<const float*>(data)[offset];
    case kernels::Dtype::kBFloat16:
      return kernels::ToFloat(static_cast<const kernels::BFloat16*>(data)[offset]);
    case kernels::Dtype::kFloat16:
      return kernels::ToFloat(static_cast<const kernels::Float16*>(data)[offset]);
  }
  return 0;
}

void HookView::Set(int64_t a, int64_t b, int64_t c, int64_t d, float value) {
  const int64_t offset = a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3];
  switch (dtype) {
    case kernels::Dtype::kFloat32:
      static_cast<float*>(data)[offset] = value;
      return;
    case kernels::Dtype::kBFloat16:
      static_cast<kernels::BFloat16*>(data)[offset] = kernels::ToBFloat16(value);
      return;
    case kernels::Dtype::kFloat16:
      static_cast<kernels::Float16*>(data)[offset] = kernels::ToFloat16(value);
      return;
  }
}

}  // namespace midscope
