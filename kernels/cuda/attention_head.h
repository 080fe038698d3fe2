// SPDX-License-Identifier: MIT
// What a GPU's attention is told of a head: kernels::HeadPositions, but for weights of queries.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/key_edits.h"
#include "kernels/cuda/machine.h"
#include "kernels/cuda/rotary.h"

namespace midscope::kernels::cuda {

struct AttentionHead {
  Table q;
  Table k;
  Table far_q;
  Table far_k;
  float scale = 1;  // of the logits
  float slope = 0;  // ALiBi's
  float inverse_temperature = 1;
  float sink = -INFINITY;  // a logit without a value; -infinity: none
  KeyEdits edits;
  bool operator==(const AttentionHead&) const = default;
};

// What goes into the softmax of a product that is scaled, before edits of keys: with the soft cap
// (0: none), ALiBi for a key `distance` rows after the query, and times `factor`.
MIDSCOPE_CUDA_BODY float LogitOf(float product, float softcap, float slope, float distance,
                                 float factor) {
  if (softcap > 0) product = softcap * tanhf(product / softcap);
  return (product + slope * distance) * factor;
}

}  // namespace midscope::kernels::cuda
