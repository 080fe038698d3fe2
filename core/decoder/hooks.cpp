// SPDX-License-Identifier: MIT
#include "core/decoder/hooks.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/error.h"

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

namespace {

void CheckAccess(const HookPoint& point, HookAccess access) {
  const bool rotated = point.site == HookSite::kRotatedQuery || point.site == HookSite::kRotatedKey;
  const bool effective = point.site == HookSite::kEffectivePattern;
  if (access != HookAccess::kWrite || !(rotated || effective)) return;
  throw Failure(
      "hook '" + HookName(point) + "'", "it can be read but not changed",
      rotated ? "Change hook_q or hook_k, before rotation" : "Change hook_attn_out of the layer");
}

}  // namespace

HookTable::HookTable(const std::vector<Hook*>& hooks, int64_t layers,
                     const SequenceInfo& sequence) {
  const auto ask = [&](HookSite site, int64_t layer) {
    for (Hook* hook : hooks) {
      HookRequest request = hook->Request({site, layer}, sequence);
      request.rows.first = std::max<int64_t>(request.rows.first, 0);
      request.rows.last = std::min(request.rows.last, sequence.rows);
      if (request.access == HookAccess::kNone || request.rows.empty()) continue;
      CheckAccess({site, layer}, request.access);
      entries_[{site, layer}].push_back({hook, request});
      if (request.access == HookAccess::kWrite) writes_ = true;
    }
  };
  if (hooks.empty()) return;
  ask(HookSite::kEmbed, -1);
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (auto site = static_cast<int>(HookSite::kResidPre);
         site <= static_cast<int>(HookSite::kResidPost); ++site) {
      ask(static_cast<HookSite>(site), layer);
    }
  }
  ask(HookSite::kFinalNormalized, -1);
}

const std::vector<HookTable::Entry>* HookTable::Find(HookSite site, int64_t layer) const {
  const auto found = entries_.find({site, layer});
  return found == entries_.end() ? nullptr : &found->second;
}

RowRange HookTable::Wanted(HookSite site, int64_t layer) const {
  RowRange wanted;
  const auto* entries = Find(site, layer);
  if (!entries) return wanted;
  wanted = entries->front().request.rows;
  for (const Entry& entry : *entries) {
    wanted.first = std::min(wanted.first, entry.request.rows.first);
    wanted.last = std::max(wanted.last, entry.request.rows.last);
  }
  return wanted;
}

std::map<std::pair<HookSite, int64_t>, RowRange> HookTable::AllWanted() const {
  std::map<std::pair<HookSite, int64_t>, RowRange> wanted;
  for (const auto& [point, entries] : entries_) wanted[point] = Wanted(point.first, point.second);
  return wanted;
}

int64_t HookTable::FirstWanted(HookSite site, int64_t layer) const {
  int64_t first = kNoRow;
  for (const auto& [point, entries] : entries_) {
    if (point.second != layer || point.first < site) continue;
    for (const Entry& entry : entries) first = std::min(first, entry.request.rows.first);
  }
  return first;
}

bool HookTable::Writes(HookSite site, int64_t layer) const {
  const auto* entries = Find(site, layer);
  return entries && std::any_of(entries->begin(), entries->end(), [](const Entry& entry) {
           return entry.request.access == HookAccess::kWrite;
         });
}

void HookTable::Call(HookView view) const {
  const auto* entries = Find(view.point.site, view.point.layer);
  if (!entries) return;
  const size_t row_dimension = view.IsPattern() ? 2 : 1;
  const int64_t end = view.first_row + view.shape[row_dimension];
  for (const Entry& entry : *entries) {
    const int64_t first = std::max(entry.request.rows.first, view.first_row);
    const int64_t last = std::min(entry.request.rows.last, end);
    if (first >= last) continue;
    HookView part = view;
    part.data = static_cast<char*>(view.data) + (first - view.first_row) *
                                                    view.strides[row_dimension] *
                                                    kernels::SizeOf(view.dtype);
    part.first_row = first;
    part.shape[row_dimension] = last - first;
    entry.hook->OnActivation(part);
  }
}

}  // namespace midscope
