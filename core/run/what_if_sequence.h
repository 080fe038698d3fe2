// SPDX-License-Identifier: MIT
// One prompt of WhatIf: its trace, and what its last run gave.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/decoder/captures.h"
#include "core/run/shared_prefix.h"
#include "core/run/what_if.h"

namespace midscope {

struct WhatIf::Sequence {
  const Prompt* prompt = nullptr;
  std::vector<int32_t> ids;  // prompt and all but the last of the answer
  std::unique_ptr<Trace> trace;
  std::unique_ptr<LastQueryAttention> attention;
  std::unique_ptr<PositionAwareness> awareness;  // null: not requested
  WhatIfOutcome outcome;                         // of the last completed run
  bool fresh = false;                            // the outcome belongs to the trace's plans
  bool has_attention = false;                    // so do the attention rows
  // State of the running call:
  Intervention resolved;             // with tokens and the values of patches
  std::vector<AttentionPlan> plans;  // [layer]
  std::vector<int64_t> first_row;    // [layer]: rows from here on are run; rows(): none
  bool rerun = false;                // on top of a complete trace
  bool needs_attention = true;
  Hook* extra_hook = nullptr;  // reads along; null: none

  int64_t prompt_tokens() const { return static_cast<int64_t>(prompt->ids.size()); }
  int64_t rows() const { return static_cast<int64_t>(ids.size()); }
  bool NeedsRun() const { return first_row.back() < rows(); }
  // From the first row of the first layer on, into a trace.
  bool RunsWhole() const { return trace && first_row.front() == 0; }
  void PlanRows();
  FreshSequence Fresh() const;
  // Fills in position awareness by the intervention's threshold; nothing if not requested.
  void TellAwareness(const Intervention& intervention, WhatIfOutcome& told) const;
  RunRequest Request();
};

}  // namespace midscope
