// SPDX-License-Identifier: MIT
// Collects the results of sequences that have been run. Internal to core.
#pragma once

#include <span>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/sequence_pass.h"

namespace midscope {

// Returns one result per sequence; sequences correspond to `requests`. Throws Error if logits are
// not finite.
std::vector<RunResult> CollectResults(std::vector<SequencePass>& sequences,
                                      std::span<const RunRequest> requests,
                                      const ModelConfig& config, kernels::Dtype dtype,
                                      ForwardPass& pass);

// Like CollectResults, for one sequence whose logits, from its first logit row on, are passed in.
RunResult CollectResult(SequencePass& sequence, std::vector<float> logits,
                        const ModelConfig& config, kernels::Dtype dtype);

}  // namespace midscope
