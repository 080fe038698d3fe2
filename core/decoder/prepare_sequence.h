// SPDX-License-Identifier: MIT
// Makes a sequence that a pass can run from a request. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Checks the request, compiles its intervention and finds the rows to compute. `index`: the
// sequence's index within its batch. A trace whose rows have other positions than this run is
// emptied; without a trace, the sequence gets its own for this run. Throws Error if the prompt is
// empty, too long or contains ids outside the vocabulary.
SequencePass PrepareSequence(const RunRequest& request, int64_t index, const ModelConfig& config,
                             kernels::Dtype dtype, const std::vector<at::Device>& devices);

}  // namespace midscope
