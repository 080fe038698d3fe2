// SPDX-License-Identifier: MIT
// Implements the launches of kernels/cuda/launch.h without a GPU: bodies run on the CPU, block by
// block, with operands in host memory.
#include "tests/kernels/support/launch_on_host.h"

#include "kernels/cuda/block_formats.h"
#include "kernels/cuda/launch.h"

namespace midscope::kernels::cuda {
namespace {

using test::RunStarted;

thread_local void* stream_of_thread = nullptr;

}  // namespace

OnStream::OnStream(void* stream) : before_(stream_of_thread) { stream_of_thread = stream; }
OnStream::~OnStream() { stream_of_thread = before_; }

void RowSoftmax(const RowSoftmaxArguments& a) {
  RunStarted(RowSoftmaxGrid(a), [&](HostMachine& machine) { RowSoftmaxBlock(machine, a).Run(); });
}
template <class T>
void Attention(const AttentionArguments<T>& a, int64_t head_dim) {
  WithHeadDim(head_dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
    RunStarted(AttentionGrid<kDim>(a), [&](HostMachine& machine) {
      AttentionBlock<HostMachine, kDim, T>(machine, a).Run();
    });
  });
}

template <class T>
void RowLogits(const RowLogitsArguments<T>& a) {
  WithVariantOf(a, [&]<bool kChanged>(std::bool_constant<kChanged>) {
    RunStarted(RowLogitsGrid(a), [&](HostMachine& machine) {
      RowLogitsBlock<T, kChanged, HostMachine>(machine, a).Run();
    });
  });
}
template <class T>
void RowAttention(const RowAttentionArguments<T>& a) {
  WithVariantOf(a, [&]<bool kChanged, bool kEdited>(std::bool_constant<kChanged>,
                                                    std::bool_constant<kEdited>) {
    RunStarted(RowAttentionGrid(a), [&](HostMachine& machine) {
      RowAttentionBlock<T, kChanged, kEdited, HostMachine>(machine, a).Run();
    });
  });
}
template <class T>
void Normalise(const NormaliseArguments<T>& a) {
  RunStarted(NormaliseGrid(a), [&](HostMachine& machine) { NormaliseBlock(machine, a); });
}
template <class T>
void NormaliseHeads(const HeadNormArguments<T>& a) {
  WithVariantOf(a, [&]<bool kOfBlock>(std::bool_constant<kOfBlock>) {
    RunStarted(HeadNormGrid(a), [&](HostMachine& machine) {
      HeadNormBlock<T, kOfBlock, HostMachine>(machine, a).Run();
    });
  });
}
void Dequantise(BlockType type, const DequantiseArguments& a) {
  VisitFormat(type, [&]<class Format>(Format) {
    RunStarted(DequantiseGrid<Format>(a),
               [&](HostMachine& machine) { DequantiseBlock<Format>(machine, a); });
  });
}
void QuantisedMatrixVector(BlockType type, const QuantisedMatrixVectorArguments& a) {
  VisitFormat(type, [&]<class Format>(Format) {
    WithProductRows(a.rows, [&]<int kRows>(std::integral_constant<int, kRows>) {
      RunStarted(QuantisedMatrixVectorGrid<Format, kRows>(a), [&](HostMachine& machine) {
        QuantisedMatrixVectorBlock<Format, kRows, HostMachine>(machine, a).Run();
      });
    });
  });
}

#define MIDSCOPE_START(Function, Name, what)                                           \
  void Function(const Name##Arguments& a) {                                            \
    RunStarted(Name##Grid(a), [&](HostMachine& machine) { Name##Block(machine, a); }); \
  }
#define MIDSCOPE_START_TYPED(Function, Name, what)                                     \
  template <class T>                                                                   \
  void Function(const Name##Arguments<T>& a) {                                         \
    RunStarted(Name##Grid(a), [&](HostMachine& machine) { Name##Block(machine, a); }); \
  }
MIDSCOPE_CUDA_KERNELS(MIDSCOPE_START, MIDSCOPE_START_TYPED, MIDSCOPE_START_TYPED)

MIDSCOPE_INSTANTIATE_CUDA_KERNELS

}  // namespace midscope::kernels::cuda
