// SPDX-License-Identifier: MIT
// Position embeddings, which a model adds to its token embeddings. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/compute/weight_matrix.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Absolute position embeddings: learned (a table in the file with a row for each position of the
// context) or sinusoidal (computed, for any real position). Not thread-safe, like WeightMatrix.
class PositionEmbeddings {
 public:
  // Makes an empty object, for a model without position embeddings.
  PositionEmbeddings() = default;
  // Learned embeddings: table [offset + positions, hidden].
  PositionEmbeddings(WeightMatrix table, int64_t offset);
  // Sinusoidal embeddings. Row `position` is sin((position + offset) theta_j) for j < width / 2,
  // then the cosines, then a zero if the width is odd; theta_j = 10000^(-j / (width / 2 - 1)) as in
  // tensor2tensor and XGLM. Vaswani et al. 2017 (arXiv 1706.03762, section 3.5) alternate sines and
  // cosines and divide by width / 2. Computed in float32 and rounded once to `dtype`.
  PositionEmbeddings(int64_t width, int64_t offset, kernels::Dtype dtype);

  // Writes the embedding to out [hidden], in the run's dtype. A learned table has only the integer
  // positions within the context. Throws Error if the table's row is not finite.
  void Row(double position, void* out) const;

 private:
  WeightMatrix table_;
  std::vector<float> frequencies_;  // [width / 2]; empty: learned
  int64_t width_ = 0;
  int64_t offset_ = 0;
  kernels::Dtype dtype_ = kernels::Dtype::kFloat32;
};

}  // namespace midscope
