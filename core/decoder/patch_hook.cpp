// SPDX-License-Identifier: MIT
#include "core/decoder/patch_hook.h"

#include <algorithm>

#include "core/base/error.h"
#include "kernels/check.h"

namespace midscope {
namespace {

HookSite SiteOf(PatchWhat what) {
  switch (what) {
    case PatchWhat::kQuery:
      return HookSite::kQuery;
    case PatchWhat::kKey:
      return HookSite::kKey;
    case PatchWhat::kValue:
      return HookSite::kValue;
    case PatchWhat::kZ:
      return HookSite::kZ;
    case PatchWhat::kAttentionOut:
      return HookSite::kAttentionOut;
    case PatchWhat::kMlpOut:
      return HookSite::kMlpOut;
    default:
      return HookSite::kResidPost;
  }
}

// Whether `head` is replaced in a view with `of_view` heads. A key head is replaced if any of the
// query heads that read it is selected.
bool IsPatched(const std::vector<uint8_t>& heads, int64_t head, int64_t of_view) {
  if (heads.empty()) return true;
  const auto members = static_cast<int64_t>(heads.size()) / of_view;
  const auto first = heads.begin() + head * members;
  return std::find(first, first + members, 1) != first + members;
}

// Number and size of a view's heads ([1, pos, head, d_head]); one head for [1, pos, d_model].
struct HeadsOfView {
  explicit HeadsOfView(const HookView& view)
      : heads(view.dimensions == 4 ? view.shape[2] : 1),
        width(view.dimensions == 4 ? view.shape[3] : view.shape[2]) {}
  int64_t heads;
  int64_t width;
};

void Put(const RowPatch& patch, HookView& view) {
  const TakenRows& taken = patch.taken;
  const HeadsOfView size(view);
  MIDSCOPE_CHECK_LE(size.heads * size.width, taken.values->width);  // of the widest layer
  const int64_t first = std::max(taken.rows.first, view.first_row);
  const int64_t last = std::min(taken.rows.last, view.first_row + view.rows());
  for (int64_t row = first; row < last; ++row) {
    const int64_t source_row =
        taken.first_source_row + (taken.one_row ? 0 : row - taken.rows.first);
    const float* source = taken.values->Row(view.point.layer, source_row);
    for (int64_t head = 0; head < size.heads; ++head) {
      if (!IsPatched(patch.heads, head, size.heads)) continue;
      for (int64_t i = 0; i < size.width; ++i) {
        const float value = source[head * size.width + i];
        if (view.dimensions == 4) {
          view.Set(0, row - view.first_row, head, i, value);
        } else {
          view.Set(0, row - view.first_row, i, 0, value);
        }
      }
    }
  }
}

}  // namespace

HookPoint PatchPoint(PatchWhat what, int64_t layer) { return {SiteOf(what), layer}; }

int64_t PatchWidth(PatchWhat what, const ModelConfig& config) {
  switch (what) {
    case PatchWhat::kQuery:
    case PatchWhat::kZ:
      return config.heads * config.head_dim;
    case PatchWhat::kKey:
    case PatchWhat::kValue:
      return config.LargestKeyWidth();
    default:
      return config.hidden;
  }
}

HookRequest PatchHook::Request(const HookPoint& point, const SequenceInfo& /*sequence*/) {
  HookRequest request;
  if (point.layer < 0) return request;
  for (const RowPatch& patch : plans_[static_cast<size_t>(point.layer)].patches) {
    if (PatchPoint(patch.what, point.layer) != point) continue;
    const RowRange& rows = patch.taken.rows;
    if (request.access == HookAccess::kNone) {
      request = {HookAccess::kWrite, rows};
    } else {
      request.rows = {std::min(request.rows.first, rows.first),
                      std::max(request.rows.last, rows.last)};
    }
  }
  return request;
}

void PatchHook::OnActivation(HookView& view) {
  for (const RowPatch& patch : plans_[static_cast<size_t>(view.point.layer)].patches) {
    if (PatchPoint(patch.what, view.point.layer) == view.point) Put(patch, view);
  }
}

std::unique_ptr<PatchHook> MakePatchHook(std::span<const AttentionPlan> plans) {
  bool any = false;
  for (const AttentionPlan& plan : plans) {
    for (const RowPatch& patch : plan.patches) {
      any = true;
      if (patch.taken.values) continue;
      throw UsageError(kPatchTerm,
                       "this command does not run the source that values are taken from",
                       "sweep, scan, whatif, probe and generate do");
    }
  }
  return any ? std::make_unique<PatchHook>(plans) : nullptr;
}

RowValues::RowValues(const ModelConfig& config, PatchWhat what, RowRange rows)
    : what_(what), rows_(rows) {
  values_.rows = rows.last - rows.first;
  values_.width = PatchWidth(what, config);
  values_.values.resize(static_cast<size_t>(config.layers * values_.rows * values_.width));
}

HookRequest RowValues::Request(const HookPoint& point, const SequenceInfo& /*sequence*/) {
  if (point.layer < 0 || PatchPoint(what_, point.layer) != point) return {};
  return {HookAccess::kRead, rows_};
}

void RowValues::OnActivation(HookView& view) {
  const HeadsOfView size(view);
  for (int64_t row = 0; row < view.rows(); ++row) {
    float* out =
        values_.values.data() +
        (view.point.layer * values_.rows + view.first_row + row - rows_.first) * values_.width;
    for (int64_t head = 0; head < size.heads; ++head) {
      for (int64_t i = 0; i < size.width; ++i)
        *out++ = view.dimensions == 4 ? view.At(0, row, head, i) : view.At(0, row, i);
    }
  }
}

}  // namespace midscope
