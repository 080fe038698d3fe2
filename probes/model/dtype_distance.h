// SPDX-License-Identifier: MIT
// How far a model's numbers in bfloat16 are from those in float32, on prompts of the list task.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/job.h"
#include "core/decoder/decoder.h"

namespace midscope {

struct DtypeDistance {
  int64_t prompts = 0;
  double largest_logit = 0;  // largest |difference| of the last prompt row's logits
  double mean_logit = 0;     // mean |difference| of them
  double answer_nats = 0;    // mean |difference| of the answer's negative log-likelihood
  int64_t same_first = 0;    // prompts whose most likely next token is the same
};

// Opens `model` twice, one dtype after the other, and runs a few prompts of some 200 tokens in each
// (list:lines=20). Throws Error where it has no context for them, Cancelled.
DtypeDistance MeasureDtypeDistance(const std::string& model, const DecoderOptions& options,
                                   const JobContext& context);

}  // namespace midscope
