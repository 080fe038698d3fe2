// SPDX-License-Identifier: MIT
// How far a model's numbers in a faster arithmetic (bfloat16, products in integers) are from those
// in float32, on prompts of the list task.
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
  double mean_logit = 0;     // mean |difference| of them
  double answer_nats = 0;    // mean |difference| of the answer's negative log-likelihood
  int64_t same_first = 0;    // prompts whose most likely next token is the same
};

// Opens `model` once in float32 and once in each of `others`, one after the other, and runs so many
// prompts of some 200 tokens in each (list:lines=20, sample by sample, over the usual places in
// turn). One distance for each of `others`. Throws Error if the model has no context for them,
// Cancelled.
std::vector<ArithmeticDistance> MeasureArithmeticDistances(const std::string& model,
                                                           const DecoderOptions& options,
                                                           std::span<const Arithmetic> others,
                                                           int64_t prompts,
                                                           const JobContext& context);

}  // namespace midscope
