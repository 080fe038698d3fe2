// SPDX-License-Identifier: MIT
// Converts the heads of an AttentionCase to arguments of the GPU kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/attention_head.h"
#include "tests/kernels/support/attention_case.h"

namespace midscope::kernels::cuda {

inline Table TableOf(const RotaryView& view) {
  return {view.cos, view.sin, static_cast<int>(view.pairs)};
}

// `edits` receives the edits, [head], and must outlive the result.
inline std::vector<AttentionHead> HeadsOf(const AttentionCase& inputs,
                                          std::vector<std::vector<KeyEdit>>* edits) {
  const HeadPositions positions = inputs.Positions();
  std::vector<AttentionHead> heads(static_cast<size_t>(inputs.shape.heads));
  edits->resize(heads.size());
  for (size_t h = 0; h < heads.size(); ++h) {
    std::vector<KeyEdit>& of_head = (*edits)[h];
    of_head = EditsOfHead(positions.hidden, positions.factors, static_cast<int64_t>(h));
    heads[h].edits = {of_head.data(), static_cast<int>(of_head.size())};
    if (!positions.sinks.empty()) heads[h].sink = positions.sinks[h];
    heads[h].q = TableOf(positions.q[h]);
    heads[h].k = TableOf(positions.k[h]);
    if (inputs.near > 0) {
      heads[h].far_q = TableOf(positions.far.q[h]);
      heads[h].far_k = TableOf(positions.far.k[h]);
    }
    heads[h].scale = positions.scale[h];
    if (!positions.alibi_slopes.empty()) heads[h].slope = positions.alibi_slopes[h];
    heads[h].inverse_temperature = 1 / positions.Temperature(static_cast<int64_t>(h));
  }
  return heads;
}

}  // namespace midscope::kernels::cuda
