// SPDX-License-Identifier: MIT
// The learned position embeddings of a model, for the window.
#pragma once

#include <memory>
#include <optional>

#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "probes/measure/builtin/learned_positions.h"

namespace midscope {

// Returns the model's table; null if its positions are not learned.
std::shared_ptr<const PositionTable> LearnedTableOf(const Decoder& decoder);

// Returns record learned_positions (learned_positions.h) of that table; nullopt if there is none.
std::optional<Record> LearnedPositionsOf(const Decoder& decoder);

}  // namespace midscope
