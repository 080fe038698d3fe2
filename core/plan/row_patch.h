// SPDX-License-Identifier: MIT
// What one layer takes from another run: the values of `what` in `taken.rows`. decoder/patch_hook.h
// puts them in.
#pragma once

#include <cstdint>
#include <vector>

#include "core/intervention/patch.h"

namespace midscope {

struct RowPatch {
  PatchWhat what = PatchWhat::kResid;
  TakenRows taken;
  // [query head], 0 for those that are left alone; empty: all. Of k and v those key heads are
  // replaced that one of these reads.
  std::vector<uint8_t> heads;
  bool operator==(const RowPatch&) const = default;
};

// The first row that comes out differently in the layer; INT64_MAX where none does.
int64_t FirstPatchedRow(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after);

// Whether q or k differ, of which ratios of heads may be made.
bool PatchedScoresDiffer(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after);

}  // namespace midscope
