// SPDX-License-Identifier: MIT
// Makes sequences that a pass can run from requests, and collects their results. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Checks the request, compiles its intervention and finds the rows to compute. `index`: the
// sequence's index within its batch. A trace whose rows have other positions than this run is
// emptied; without a trace, a temporary one is made for this run. Throws Error if the prompt is
// empty, too long or contains ids outside the vocabulary.
SequencePass PrepareSequence(const RunRequest& request, int64_t index, const ModelConfig& config,
                             kernels::Dtype dtype, const std::vector<at::Device>& devices);

// Computes the logits of every sequence and returns one result per sequence, in the order of
// `requests`. Throws Error if logits are not finite.
std::vector<RunResult> CollectResults(std::vector<SequencePass>& sequences,
                                      std::span<const RunRequest> requests,
                                      const ModelConfig& config, kernels::Dtype dtype,
                                      ForwardPass& pass);

// Returns the result of one sequence; `logits`: its logits from its first logit row on.
RunResult CollectResult(SequencePass& sequence, std::vector<float> logits,
                        const ModelConfig& config, kernels::Dtype dtype);

}  // namespace midscope
