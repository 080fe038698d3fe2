// SPDX-License-Identifier: MIT
// Measures how far a model's results in a faster arithmetic (bfloat16, products in integers)
// deviate from float32, on prompts of the list task.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"

namespace midscope {

struct ArithmeticDistance {
  int64_t prompts = 0;
  double largest_logit = 0;  // largest |difference| of the last prompt row's logits
  double mean_logit = 0;     // mean |difference| of the last prompt row's logits
  double answer_nats = 0;    // mean |difference| of the answer's negative log-likelihood
  int64_t same_first = 0;    // prompts with the same likeliest next token
};

// Opens `model` in float32, then in each of `others`, and runs `prompts` prompts of about 200
// tokens in each (list:lines=20, one per sample, alternating between the default places). Returns
// one distance for each of `others`. Throws Error if the model's context is too short; Cancelled.
std::vector<ArithmeticDistance> MeasureArithmeticDistances(const std::string& model,
                                                           const DecoderOptions& options,
                                                           std::span<const Arithmetic> others,
                                                           int64_t prompts,
                                                           const JobContext& context);

}  // namespace midscope
