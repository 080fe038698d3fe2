// SPDX-License-Identifier: MIT
#include "core/run/what_if_pair.h"

#include <utility>

namespace midscope {

WhatIfPair::WhatIfPair(std::shared_ptr<const Decoder> decoder, std::vector<Prompt> prompts,
                       int64_t memory_limit, bool position_awareness)
    : decoder_(std::move(decoder)),
      prompts_(std::move(prompts)),
      memory_limit_(memory_limit),
      position_awareness_(position_awareness),
      first_(decoder_, prompts_, memory_limit, position_awareness) {}

// Returns the trace on which the setting costs least, except one that would overwrite `none`.
WhatIf* WhatIfPair::Choose(const Intervention& intervention, const JobContext& context) {
  if (!has_none_ || intervention.empty()) return &first_;
  const WhatIfWork on_first = first_.Estimate(intervention, context);
  if (on_first.last_rows_only) {
    if (!second_) return &first_;
    return second_->Estimate(intervention, context).share < on_first.share ? second_.get()
                                                                           : &first_;
  }
  const bool room = memory_limit_ == 0 || 2 * first_bytes_ <= memory_limit_;
  if (!room) {
    // From now on uses the trace of `none`, as if there were only one trace.
    has_none_ = false;
    return &first_;
  }
  if (!second_) {
    second_ = std::make_unique<WhatIf>(decoder_, prompts_, memory_limit_ / 2, position_awareness_);
    if (sources_) second_->TakePatchesFrom(sources_);
    if (last_rows_alone_) second_->RunLastRowsAlone();
  }
  return second_.get();
}

WhatIfResult WhatIfPair::Evaluate(const Intervention& intervention, const JobContext& context,
                                  bool attention, const WhatIfShown* shown) {
  WhatIf* chosen = Choose(intervention, context);
  WhatIfResult result = chosen->Evaluate(intervention, context, attention, shown);
  last_ = chosen;
  if (chosen == &first_) {
    first_bytes_ = result.kept.bytes;
    if (intervention.empty()) has_none_ = true;
  } else {
    result.kept.bytes += first_bytes_;
    result.kept.limit = memory_limit_;
  }
  return result;
}

}  // namespace midscope
