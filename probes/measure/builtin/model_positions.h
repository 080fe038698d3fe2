// SPDX-License-Identifier: MIT
// The learned position embeddings of a model, for the window.
#pragma once

#include <memory>

#include "core/decoder/decoder.h"
#include "probes/measure/builtin/learned_positions.h"

namespace midscope {

// Returns the model's table of position embeddings; null if its positions are not learned.
std::shared_ptr<const PositionTable> LearnedTableOf(const Decoder& decoder);

}  // namespace midscope
