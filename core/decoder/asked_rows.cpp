// SPDX-License-Identifier: MIT
#include "core/decoder/asked_rows.h"

#include <algorithm>

namespace midscope {

int64_t FirstAskedRow(const ModelConfig& config, const SequencePass& sequence, int64_t layer) {
  const AttentionPlan& plan = sequence.plans[static_cast<size_t>(layer)];
  // Those change rows by others' outputs, or by projections of all rows; a trace's residual rows
  // are read later.
  const bool reads_all = plan.row_override || plan.memory || !plan.edits.ablated.empty() ||
                         plan.residual.TakesMeans() || sequence.trace->has_residual();
  if (layer + 1 < config.layers || reads_all || sequence.active_rows() == 0) {
    return sequence.active_first;
  }
  const int64_t asked = std::min({sequence.first_logit_row(), sequence.last_query(),
                                  sequence.hooks->FirstWanted(HookSite::kPatternUnrotated, layer)});
  return std::clamp(asked, sequence.active_first, sequence.rows - 1);
}

}  // namespace midscope
