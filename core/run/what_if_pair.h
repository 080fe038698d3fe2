// SPDX-License-Identifier: MIT
// What-if with two traces: of `none`, and of the last setting. A setting that changes only the last
// rows costs only those, after any earlier setting.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/run/what_if.h"

namespace midscope {

//   WhatIfPair kept(decoder, prompts, /*memory_limit=*/int64_t{3} << 30);
//   kept.Evaluate(ParseIntervention("ms-poe"));                  // runs all rows
//   kept.Evaluate(ParseIntervention("boost(span=gold, factor=2)"));   // a few rows of `none`
class WhatIfPair {
 public:
  // Parameters as those of WhatIf. The second trace exists where both need at most `memory_limit`
  // bytes (0: no limit); else there is one, of the last setting.
  WhatIfPair(std::shared_ptr<const Decoder> decoder, std::vector<Prompt> prompts,
             int64_t memory_limit = 0, bool position_awareness = false);

  // As WhatIf::TakePatchesFrom; before the first call.
  void TakePatchesFrom(const std::shared_ptr<PatchSources>& sources) {
    sources_ = sources;
    first_.TakePatchesFrom(sources);
  }

  // As WhatIf::Evaluate; `kept` is of both traces.
  WhatIfResult Evaluate(const Intervention& intervention, const JobContext& context = {},
                        bool attention = true, const WhatIfShown* shown = nullptr);

  // The trace of the last setting; null where the memory limit leaves nothing.
  const Trace* trace(size_t prompt) const { return last_->trace(prompt); }

 private:
  WhatIf* Choose(const Intervention& intervention, const JobContext& context);

  std::shared_ptr<const Decoder> decoder_;
  std::vector<Prompt> prompts_;
  int64_t memory_limit_;
  bool position_awareness_;
  std::shared_ptr<PatchSources> sources_;  // null: those of a WhatIf itself
  WhatIf first_;  // of `none` except the last rows, where there is memory for a second one
  std::unique_ptr<WhatIf> second_;  // of the last setting that changed earlier rows; created then
  bool has_none_ = false;           // first_ has only been run under settings of late rows
  int64_t first_bytes_ = 0;         // bytes of its trace
  WhatIf* last_ = &first_;
};

}  // namespace midscope
