// SPDX-License-Identifier: MIT
// From a request to a sequence that a pass can run. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Checks the request, compiles its intervention and finds the rows to compute. `index`: of the
// sequence within its batch. A trace whose rows have other positions than those of this run is
// emptied; without one the sequence gets its own, for this run alone. Throws Error where the prompt
// is empty, too long or holds ids outside the vocabulary.
SequencePass PrepareSequence(const RunRequest& request, int64_t index, const ModelConfig& config,
                             kernels::Dtype dtype, const std::vector<at::Device>& devices);

}  // namespace midscope
