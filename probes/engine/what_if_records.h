// SPDX-License-Identifier: MIT
// Makes the records and the cost of a what-if; the records have no origin (RecordOrigin).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/tokenizer/prompt.h"
#include "probes/engine/engine.h"

namespace midscope {

// The prompts of a what-if, one per place.
struct WhatIfSource {
  const Decoder& decoder;
  const std::vector<Prompt>& prompts;
  const std::vector<int64_t>& places;
};

// Returns record `outcome` over all places.
Record OutcomeOverPlaces(const WhatIfSource& source, const Intervention& intervention,
                         const WhatIfResult& result);

// Replaces the setting named in a record `outcome` of one setting.
void NameSetting(const Intervention& intervention, Record& outcome);

// Returns the largest noise of the outcomes (WhatIfOutcome::noise); nullopt if none has any.
std::optional<double> LargestNoise(const WhatIfResult& result);

// Returns the records of a what-if other than `outcome`, for the requested place. If `layers_done`
// is less than the number of layers, the records are partial (probes/base/records.h). `trace`:
// source of hidden channels; may be null.
std::vector<Record> RecordsOfPlace(const WhatIfSource& source, const WhatIfRequest& request,
                                   WhatIfOutcome outcome, int64_t layers_done, const Trace* trace);

// Returns record next_tokens of a place and, if its prompt has an answer, record answer.
std::vector<Record> AnswerRecordsOf(const WhatIfSource& source, size_t place,
                                    const WhatIfOutcome& outcome);

WhatIfCost CostOf(const WhatIfResult& result);
// Returns the cost of a reply that came from the cache, for a model with `layers` layers. `cost`:
// that of the run whose reply was cached.
WhatIfCost CostOfKnown(const WhatIfCost& cost, int64_t layers, double seconds);

}  // namespace midscope
