// SPDX-License-Identifier: MIT
// Makes the records and the cost of a what-if, without origin (RecordOrigin).
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

// The prompts of a prompt request, one per place.
struct WhatIfSource {
  const Decoder& decoder;
  const std::vector<Prompt>& prompts;
  const std::vector<int64_t>& places;
};

// Returns record `outcome` of all places.
Record OutcomeOverPlaces(const WhatIfSource& source, const Intervention& intervention,
                         const WhatIfResult& result);

// Writes another setting into a record outcome of one setting.
void NameSetting(const Intervention& intervention, Record& outcome);

// Returns the largest noise of the outcomes (WhatIfOutcome::noise); nullopt if none has any.
std::optional<double> LargestNoise(const WhatIfResult& result);

// Returns the other records of a what-if, for the requested place. If `layers_done` is less than
// the number of layers, they are partial (probes/base/records.h). `trace`: source of hidden
// channels; may be null.
std::vector<Record> RecordsOfPlace(const WhatIfSource& source, const WhatIfRequest& request,
                                   WhatIfOutcome outcome, int64_t layers_done, const Trace* trace);

// Returns records next_tokens and, if the prompt has an answer, answer.
std::vector<Record> AnswerRecordsOf(const WhatIfSource& source, size_t place,
                                    const WhatIfOutcome& outcome);

WhatIfCost CostOf(const WhatIfResult& result);
// As above, for a cached reply of a model with `layers` layers.
WhatIfCost CostOfKnown(const WhatIfCost& cost, int64_t layers, double seconds);

}  // namespace midscope
