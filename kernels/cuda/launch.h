// SPDX-License-Identifier: MIT
// Launches the kernels of this folder on the current GPU, on its default stream or that of
// OnStream, after earlier work there. All pointers, including those within arguments, must point to
// the GPU's memory. Throws LaunchError if the GPU does not accept the work; faults of a kernel
// itself are reported when its results are read.
#pragma once

#include <stdexcept>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/dequantise.h"
#include "kernels/cuda/head_norms.h"
#include "kernels/cuda/kernel_list.h"
#include "kernels/cuda/move_rows.h"
#include "kernels/cuda/normalise.h"
#include "kernels/cuda/quantised_matrix_vector.h"
#include "kernels/cuda/rotary.h"
#include "kernels/cuda/row_attention.h"
#include "kernels/cuda/row_softmax.h"
#include "kernels/cuda/top_rows.h"
#include "kernels/quantised/dequantise.h"

namespace midscope::kernels::cuda {

class LaunchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// During its lifetime, this thread's kernels are launched on a given stream of the current GPU.
class OnStream {
 public:
  explicit OnStream(void* stream);  // a cudaStream_t
  ~OnStream();
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  void* before_;
};

#define MIDSCOPE_DECLARE(Function, Name, what) void Function(const Name##Arguments& arguments);
#define MIDSCOPE_DECLARE_TYPED(Function, Name, what) \
  template <class T>                                 \
  void Function(const Name##Arguments<T>& arguments);
MIDSCOPE_CUDA_KERNELS(MIDSCOPE_DECLARE, MIDSCOPE_DECLARE_TYPED, MIDSCOPE_DECLARE_TYPED)
#undef MIDSCOPE_DECLARE
#undef MIDSCOPE_DECLARE_TYPED

void RowSoftmax(const RowSoftmaxArguments& arguments);

// For T = BFloat16 and Float16. HasAttention(head_dim) must be true.
template <class T>
void Attention(const AttentionArguments<T>& arguments, int64_t head_dim);

// For T = float, BFloat16 and Float16.
template <class T>
void RowLogits(const RowLogitsArguments<T>& arguments);
template <class T>
void RowAttention(const RowAttentionArguments<T>& arguments);
template <class T>
void Normalise(const NormaliseArguments<T>& arguments);
template <class T>
void NormaliseHeads(const HeadNormArguments<T>& arguments);

// `type` is the type of the blocks.
void Dequantise(BlockType type, const DequantiseArguments& arguments);
void QuantisedMatrixVector(BlockType type, const QuantisedMatrixVectorArguments& arguments);

}  // namespace midscope::kernels::cuda
