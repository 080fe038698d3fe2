// SPDX-License-Identifier: MIT
// Rows of which nobody asks for the last layer's output. Internal to core.
#pragma once

#include <cstdint>

#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"

namespace midscope {

// The first active row whose output of the layer is computed: the first one, but in the last layer
// the first that logits, hooks or the plan's ratios need. Rows before it have keys and values there
// alone.
int64_t FirstAskedRow(const ModelConfig& config, const SequencePass& sequence, int64_t layer);

}  // namespace midscope
