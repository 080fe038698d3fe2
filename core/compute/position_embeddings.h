// SPDX-License-Identifier: MIT
// The embeddings of positions that a model adds to those of tokens. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/compute/weight_matrix.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Learned (a table of the file, a row for each position of the context) or sinusoidal (computed,
// for any real position). Not thread-safe, as WeightMatrix.
class PositionEmbeddings {
 public:
  // A model without.
  PositionEmbeddings() = default;
  // table [offset + positions, hidden].
  PositionEmbeddings(WeightMatrix table, int64_t offset);
  // Row `position` is sin((position + offset) theta_j) for j < width / 2, then the cosines, then a
  // zero where the width is odd; theta_j = 10000^(-j / (width / 2 - 1)) as in tensor2tensor and
  // XGLM. Vaswani et al. 2017 (arXiv 1706.03762, section 3.5) let the two alternate and divide by
  // width / 2. In float32, rounded once to `dtype`.
  PositionEmbeddings(int64_t width, int64_t offset, kernels::Dtype dtype);

  // out [hidden] of the run's dtype. A learned table has whole positions of the context alone.
  // Throws Error where the table's row is not finite.
  void Row(double position, void* out) const;

 private:
  WeightMatrix table_;
  std::vector<float> frequencies_;  // [width / 2]; empty: learned
  int64_t width_ = 0;
  int64_t offset_ = 0;
  kernels::Dtype dtype_ = kernels::Dtype::kFloat32;
};

}  // namespace midscope
