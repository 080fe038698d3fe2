// SPDX-License-Identifier: MIT
#include "core/decoder/hook_table.h"

#include <algorithm>

#include "core/base/error.h"

namespace midscope {
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
