// SPDX-License-Identifier: MIT
#include "probes/base/attention_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/position_awareness.h"

namespace midscope {
namespace {

void VisitRows(const HookView& view, const PatternRows::Visitor& visit) {
  // Attention patterns are float32, with contiguous keys.
  for (int64_t row = 0; row < view.rows(); ++row) {
    const int64_t query = view.first_row + row;
    for (int64_t head = 0; head < view.shape[1]; ++head) {
      const float* weights =
          static_cast<const float*>(view.data) + head * view.strides[1] + row * view.strides[2];
      visit(view.point.layer, head, query, std::span(weights, static_cast<size_t>(query + 1)));
    }
  }
}

}  // namespace

double AttentionSum(std::span<const float> row, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t key = begin; key < end; ++key) sum += row[static_cast<size_t>(key)];
  return sum;
}

double AttentionEntropy(std::span<const float> row) {
  return kernels::RowEntropy(row.data(), static_cast<int64_t>(row.size()));
}

double AttentionCentre(std::span<const float> row, int64_t first_key) {
  double mass = 0;
  double moment = 0;
  for (auto key = static_cast<size_t>(first_key); key < row.size(); ++key) {
    mass += row[key];
    moment += static_cast<double>(row[key]) * static_cast<double>(key);
  }
  return mass > 0 ? moment / mass : std::numeric_limits<double>::quiet_NaN();
}

int64_t LargestKey(std::span<const float> row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

PatternRows::PatternRows(HookSite site, int64_t rows, Visitor visit)
    : site_(site), rows_(rows), visit_(std::move(visit)) {}

HookRequest PatternRows::Request(const HookPoint& point, const SequenceInfo& sequence) {
  if (point.site != site_) return {};
  const int64_t first = sequence.prompt_tokens - 1;
  return {HookAccess::kRead, {first, first + rows_}};
}

void PatternRows::OnActivation(HookView& view) { VisitRows(view, visit_); }

PatternRange::PatternRange(RowRange rows, int64_t layer, PatternRows::Visitor visit)
    : rows_(rows), layer_(layer), visit_(std::move(visit)) {}

HookRequest PatternRange::Request(const HookPoint& point, const SequenceInfo&) {
  if (point.site != HookSite::kPattern || (layer_ >= 0 && point.layer != layer_)) return {};
  return {HookAccess::kRead, rows_};
}

void PatternRange::OnActivation(HookView& view) { VisitRows(view, visit_); }

}  // namespace midscope
