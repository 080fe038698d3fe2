// SPDX-License-Identifier: MIT
#include "kernels/cuda/launch.h"

#include "kernels/cuda/start.cuh"

namespace midscope::kernels::cuda {
namespace {

#define MIDSCOPE_KERNEL(Function, Name, what)                     \
  __global__ void Name##Kernel(const Name##Arguments arguments) { \
    GpuMachine machine(SharedBytes());                            \
    Name##Block(machine, arguments);                              \
  }
#define MIDSCOPE_TYPED_KERNEL(Function, Name, what)                  \
  template <class T>                                                 \
  __global__ void Name##Kernel(const Name##Arguments<T> arguments) { \
    GpuMachine machine(SharedBytes());                               \
    Name##Block(machine, arguments);                                 \
  }
MIDSCOPE_CUDA_KERNELS(MIDSCOPE_KERNEL, MIDSCOPE_TYPED_KERNEL, MIDSCOPE_TYPED_KERNEL)

template <int kDim, class T>
__global__ void __launch_bounds__(kAttentionThreads, AttentionBlocks(kDim))
    AttentionKernel(const AttentionArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  AttentionBlock<GpuMachine, kDim, T>(machine, arguments).Run();
}

template <class T, bool kChanged>
__global__ void __launch_bounds__(kRowThreads, std::is_same_v<T, float> ? 1 : 2)
    RowLogitsKernel(const RowLogitsArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  RowLogitsBlock<T, kChanged, GpuMachine>(machine, arguments).Run();
}

template <class T, bool kChanged, bool kEdited>
__global__ void __launch_bounds__(kRowThreads, kChanged || std::is_same_v<T, float> ? 1 : 2)
    RowAttentionKernel(const RowAttentionArguments<T> arguments) {
  GpuMachine machine(SharedBytes(), StartsEarly());
  RowAttentionBlock<T, kChanged, kEdited, GpuMachine>(machine, arguments).Run();
}

__global__ void __launch_bounds__(kSoftmaxThreads)
    RowSoftmaxKernel(const RowSoftmaxArguments arguments) {
  GpuMachine machine(SharedBytes());
  RowSoftmaxBlock(machine, arguments).Run();
}

template <class T>
__global__ void NormaliseKernel(const NormaliseArguments<T> arguments) {
  GpuMachine machine(SharedBytes(), StartsEarly());
  NormaliseBlock(machine, arguments);
}

template <class T, bool kOfBlock>
__global__ void HeadNormKernel(const HeadNormArguments<T> arguments) {
  GpuMachine machine(SharedBytes(), StartsEarly());
  HeadNormBlock<T, kOfBlock, GpuMachine>(machine, arguments).Run();
}

}  // namespace

OnStream::OnStream(void* stream) : before_(stream_of_thread) {
  stream_of_thread = static_cast<cudaStream_t>(stream);
}
OnStream::~OnStream() { stream_of_thread = static_cast<cudaStream_t>(before_); }

void RowSoftmax(const RowSoftmaxArguments& arguments) {
  Start(RowSoftmaxKernel, RowSoftmaxGrid(arguments), arguments, "softmax of rows");
}

template <class T>
void Attention(const AttentionArguments<T>& arguments, int64_t head_dim) {
  WithHeadDim(head_dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
    Start(AttentionKernel<kDim, T>, AttentionGrid<kDim>(arguments), arguments, "attention");
  });
}

template <class T>
void RowLogits(const RowLogitsArguments<T>& arguments) {
  WithVariantOf(arguments, [&]<bool kChanged>(std::bool_constant<kChanged>) {
    Start(RowLogitsKernel<T, kChanged>, RowLogitsGrid(arguments), arguments, "logits of rows");
  });
}
template <class T>
void RowAttention(const RowAttentionArguments<T>& arguments) {
  WithVariantOf(arguments, [&]<bool kChanged, bool kEdited>(std::bool_constant<kChanged>,
                                                            std::bool_constant<kEdited>) {
    Start(RowAttentionKernel<T, kChanged, kEdited>, RowAttentionGrid(arguments), arguments,
          "attention of rows");
  });
}
template <class T>
void Normalise(const NormaliseArguments<T>& arguments) {
  Start(NormaliseKernel<T>, NormaliseGrid(arguments), arguments, "norm");
}
template <class T>
void NormaliseHeads(const HeadNormArguments<T>& arguments) {
  WithVariantOf(arguments, [&]<bool kOfBlock>(std::bool_constant<kOfBlock>) {
    Start(HeadNormKernel<T, kOfBlock>, HeadNormGrid(arguments), arguments, "norm of heads");
  });
}

#define MIDSCOPE_START(Function, Name, what)                     \
  void Function(const Name##Arguments& arguments) {              \
    Start(Name##Kernel, Name##Grid(arguments), arguments, what); \
  }
#define MIDSCOPE_START_TYPED(Function, Name, what)                  \
  template <class T>                                                \
  void Function(const Name##Arguments<T>& arguments) {              \
    Start(Name##Kernel<T>, Name##Grid(arguments), arguments, what); \
  }
MIDSCOPE_CUDA_KERNELS(MIDSCOPE_START, MIDSCOPE_START_TYPED, MIDSCOPE_START_TYPED)

MIDSCOPE_INSTANTIATE_CUDA_KERNELS

}  // namespace midscope::kernels::cuda
