// SPDX-License-Identifier: MIT
// Launches the kernels of this folder on the current GPU, on the default stream or the stream of
// OnStream, in order. All pointers, including those in arguments, must point to GPU memory. Throws
// LaunchError if the launch fails; errors during a kernel are reported when its results are read.
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

// Scope guard: kernels of this thread are launched on the given stream of the current GPU.
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

// Defined for T = BFloat16 and Float16. Requires HasAttention(head_dim).
template <class T>
void Attention(const AttentionArguments<T>& arguments, int64_t head_dim);

// Defined for T = float, BFloat16 and Float16.
template <class T>
void RowLogits(const RowLogitsArguments<T>& arguments);
template <class T>
void RowAttention(const RowAttentionArguments<T>& arguments);
template <class T>
void Normalise(const NormaliseArguments<T>& arguments);
template <class T>
void NormaliseHeads(const HeadNormArguments<T>& arguments);

// `type`: format of the quantised blocks.
void Dequantise(BlockType type, const DequantiseArguments& arguments);
void QuantisedMatrixVector(BlockType type, const QuantisedMatrixVectorArguments& arguments);

}  // namespace midscope::kernels::cuda
