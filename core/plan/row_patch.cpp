// SPDX-License-Identifier: MIT
#include "core/plan/row_patch.h"

#include <algorithm>

namespace midscope {
namespace {

// Calls visit(patch) for those that are not at the same place of the other list: a later one wins
// where rows overlap.
template <class Visit>
void VisitDifferences(const std::vector<RowPatch>& a, const std::vector<RowPatch>& b,
                      const Visit& visit) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && a[i] == b[i]) continue;
    if (i < a.size()) visit(a[i]);
    if (i < b.size()) visit(b[i]);
  }
}

}  // namespace

int64_t FirstPatchedRow(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after) {
  int64_t first = INT64_MAX;
  VisitDifferences(before, after,
                   [&](const RowPatch& patch) { first = std::min(first, patch.taken.rows.first); });
  return first;
}

bool PatchedScoresDiffer(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after) {
  bool differ = false;
  VisitDifferences(before, after, [&](const RowPatch& patch) {
    differ = differ || patch.what == PatchWhat::kQuery || patch.what == PatchWhat::kKey;
  });
  return differ;
}

}  // namespace midscope
