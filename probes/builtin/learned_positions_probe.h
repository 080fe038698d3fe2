// SPDX-License-Identifier: MIT
// The learned position embeddings of the model.
#pragma once

#include <optional>

#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "probes/base/probe.h"

namespace midscope {

// Record learned_positions (learned_positions.h), which no prompt changes.
ProbeType LearnedPositionsProbe();

// The same; nothing where the model's positions are not learned.
std::optional<Record> LearnedPositionsOf(const Decoder& decoder);

}  // namespace midscope
