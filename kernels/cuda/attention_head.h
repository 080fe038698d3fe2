// SPDX-License-Identifier: MIT
// One head's parameters of attention on a GPU: kernels::HeadPositions except query_weight.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cuda/machine.h"
#include "kernels/cuda/rotary.h"

namespace midscope::kernels::cuda {

// Key edits: keys that attention hides or reweights.

// For keys [begin, end): `logit` is added to the softmax input, and the weight after the softmax is
// multiplied by `weight`.
struct KeyEdit {
  int64_t begin = 0;
  int64_t end = 0;
  float logit = 0;  // -infinity: hidden
  float weight = 1;
  bool operator==(const KeyEdit&) const = default;
};

// Returns the edits that apply to one head, from the ranges in HeadPositions.
inline std::vector<KeyEdit> EditsOfHead(std::span<const KeyRange> hidden,
                                        std::span<const KeyFactor> factors, int64_t head) {
  std::vector<KeyEdit> edits;
  for (const KeyRange& range : hidden) {
    if (HoldsFor(range, head)) edits.push_back({range.begin, range.end, -INFINITY, 1});
  }
  for (const KeyFactor& factor : factors) {
    if (!HoldsFor(factor, head)) continue;
    KeyEdit edit{factor.begin, factor.end, 0, 1};
    if (factor.renormalised) {
      edit.logit = std::log(factor.factor);
    } else {
      edit.weight = factor.factor;
    }
    edits.push_back(edit);
  }
  return edits;
}

// The edits of one head, in GPU memory.
struct KeyEdits {
  const KeyEdit* data = nullptr;
  int count = 0;
  bool operator==(const KeyEdits&) const = default;

  // Whether a single edit hides all keys [first, last).
  MIDSCOPE_CUDA_BODY bool Hide(int64_t first, int64_t last) const {
    for (int i = 0; i < count; ++i) {
      if (data[i].begin <= first && data[i].end >= last && data[i].logit == -INFINITY) return true;
    }
    return false;
  }
  // LogitOf: sum of the terms for a key's logit. WeightOf: product of the factors of a key's
  // weight.
  MIDSCOPE_CUDA_BODY float LogitOf(int64_t key) const {
    float logit = 0;
    for (int i = 0; i < count; ++i) {
      if (key >= data[i].begin && key < data[i].end) logit += data[i].logit;
    }
    return logit;
  }
  MIDSCOPE_CUDA_BODY float WeightOf(int64_t key) const {
    float weight = 1;
    for (int i = 0; i < count; ++i) {
      if (key >= data[i].begin && key < data[i].end) weight *= data[i].weight;
    }
    return weight;
  }
  // Calls work(edit) for each edit of keys in [first, last).
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachWithin(int64_t first, int64_t last, const Work& work) const {
    for (int i = 0; i < count; ++i) {
      const KeyEdit edit = data[i];
      if (edit.begin < last && edit.end > first) work(edit);
    }
  }
};

struct AttentionHead {
  Table q;
  Table k;
  Table far_q;
  Table far_k;
  float scale = 1;  // factor of the product q k
  float slope = 0;  // ALiBi slope
  float inverse_temperature = 1;
  float sink = -INFINITY;  // logit of the attention sink; -infinity: none
  KeyEdits edits;
  bool operator==(const AttentionHead&) const = default;
};

// Returns the softmax input for a scaled product q k, before key edits: applies the soft cap (0:
// none), adds slope * distance (ALiBi; distance: key row - query row), and multiplies by `factor`.
MIDSCOPE_CUDA_BODY float LogitOf(float product, float softcap, float slope, float distance,
                                 float factor) {
  if (softcap > 0) product = softcap * tanhf(product / softcap);
  return (product + slope * distance) * factor;
}

}  // namespace midscope::kernels::cuda
