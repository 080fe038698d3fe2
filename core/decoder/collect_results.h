// SPDX-License-Identifier: MIT
// From sequences that have been run to results. Internal to core.
#pragma once

#include <span>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/sequence_pass.h"

namespace midscope {

// One for each of the sequences, which are those of `requests`. Throws Error where logits are not
// finite.
std::vector<RunResult> CollectResults(std::vector<SequencePass>& sequences,
                                      std::span<const RunRequest> requests,
                                      const ModelConfig& config, kernels::Dtype dtype,
                                      ForwardPass& pass);

// As above, for one sequence whose logits, from its first logit row on, are known.
RunResult CollectResult(SequencePass& sequence, std::vector<float> logits,
                        const ModelConfig& config, kernels::Dtype dtype);

}  // namespace midscope
