// SPDX-License-Identifier: MIT
// What-if with two traces, one for `none` and one for the last setting. A setting that changes only
// the last rows costs only these rows, whatever setting preceded it.
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
  // The parameters are those of WhatIf. There are two traces if both fit into `memory_limit` bytes
  // (0: no limit); else only that of the last setting.
  WhatIfPair(std::shared_ptr<const Decoder> decoder, std::vector<Prompt> prompts,
             int64_t memory_limit = 0, bool position_awareness = false);

  // Like WhatIf::TakePatchesFrom; must precede the first Evaluate.
  void TakePatchesFrom(const std::shared_ptr<PatchSources>& sources) {
    sources_ = sources;
    first_.TakePatchesFrom(sources);
  }

  // Like WhatIf::RunLastRowsAlone; must precede the first Evaluate.
  void RunLastRowsAlone() {
    last_rows_alone_ = true;
    first_.RunLastRowsAlone();
  }

  // Like WhatIf::Evaluate; `kept` of the result counts both traces.
  WhatIfResult Evaluate(const Intervention& intervention, const JobContext& context = {},
                        bool attention = true, const WhatIfShown* shown = nullptr);

  // Returns the trace of the last setting; null if the memory limit allows none.
  const Trace* trace(size_t prompt) const { return last_->trace(prompt); }

 private:
  WhatIf* Choose(const Intervention& intervention, const JobContext& context);

  std::shared_ptr<const Decoder> decoder_;
  std::vector<Prompt> prompts_;
  int64_t memory_limit_;
  bool position_awareness_;
  bool last_rows_alone_ = false;
  std::shared_ptr<PatchSources> sources_;  // null: each WhatIf uses its own
  WhatIf first_;  // under `none` except for the last rows, if there is memory for a second one
  std::unique_ptr<WhatIf> second_;  // the last setting that changed earlier rows; created on demand
  bool has_none_ = false;           // first_ has only been run under settings of late rows
  int64_t first_bytes_ = 0;         // size of its trace
  WhatIf* last_ = &first_;
};

}  // namespace midscope
