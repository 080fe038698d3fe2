// SPDX-License-Identifier: MIT
// One prompt of WhatIf: its trace and the results of its last run.
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
  std::vector<int32_t> ids;  // tokens of the prompt and all but the last of the answer
  std::unique_ptr<Trace> trace;
  std::unique_ptr<LastQueryAttention> attention;
  std::unique_ptr<PositionAwareness> awareness;  // null: not requested
  WhatIfOutcome outcome;                         // results of the last completed run
  bool fresh = false;          // whether the outcome belongs to the plans of the trace
  bool has_attention = false;  // whether its attention rows belong to these plans too
  // The following members are the state of the running call.
  Intervention resolved;             // with passages as tokens and the values of patches
  std::vector<AttentionPlan> plans;  // [layer]
  std::vector<int64_t> first_row;    // [layer]: rows from here on are run; rows(): none
  bool rerun = false;                // whether the run starts from a complete trace
  bool needs_attention = true;
  Hook* extra_hook = nullptr;  // an additional observer; null: none

  int64_t prompt_tokens() const { return static_cast<int64_t>(prompt->ids.size()); }
  int64_t rows() const { return static_cast<int64_t>(ids.size()); }
  bool NeedsRun() const { return first_row.back() < rows(); }
  // Whether it runs from the first row of the first layer, into a trace.
  bool RunsWhole() const { return trace && first_row.front() == 0; }
  // Whether no row before the last prompt row is run.
  bool RunsLate() const { return first_row.back() >= prompt_tokens() - 1; }
  void PlanRows();
  FreshSequence Fresh() const;
  // Fills in position awareness by the intervention's threshold, if it was requested.
  void TellAwareness(const Intervention& intervention, WhatIfOutcome& told) const;
  RunRequest Request();
};

}  // namespace midscope
