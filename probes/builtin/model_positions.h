// SPDX-License-Identifier: MIT
// The learned position embeddings of a model, for the window.
#pragma once

#include <optional>

#include "core/base/record.h"
#include "core/decoder/decoder.h"

namespace midscope {

// Record learned_positions (learned_positions.h); nothing where the model's positions are not
// learned.
std::optional<Record> LearnedPositionsOf(const Decoder& decoder);

}  // namespace midscope
