// SPDX-License-Identifier: MIT
// Records and cost of a what-if, without their origin (RecordOrigin).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/tokenizer/prompt.h"
#include "probes/engine/engine.h"

namespace midscope {

// A prompt request's prompts, one per place.
struct WhatIfSource {
  const Decoder& decoder;
  const std::vector<Prompt>& prompts;
  const std::vector<int64_t>& places;
};

// `outcome` of all places.
Record OutcomeOverPlaces(const WhatIfSource& source, const Intervention& intervention,
                         const WhatIfResult& result);

// The other records of a what-if, of the request's place. layers_done below the number of layers:
// of a run that goes on (probes/base/records.h). `trace`: of hidden channels; may be null.
std::vector<Record> RecordsOfPlace(const WhatIfSource& source, const WhatIfRequest& request,
                                   WhatIfOutcome outcome, int64_t layers_done, const Trace* trace);

WhatIfCost CostOf(const WhatIfResult& result);
// As above, for a cached reply, of a model with `layers` layers.
WhatIfCost CostOfKnown(const WhatIfCost& cost, int64_t layers, double seconds);

}  // namespace midscope
