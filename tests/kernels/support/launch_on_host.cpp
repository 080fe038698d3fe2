// SPDX-License-Identifier: MIT
// The starts of kernels/cuda/launch.h without a GPU: bodies run on the CPU, block by block, with
// operands in host memory.
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

void FormAngles(const AnglesArguments& a) {
  RunStarted(AnglesGrid(a), [&](HostMachine& machine) { AnglesBlock(machine, a); });
}
void SplitRows(const SplitRowsArguments& a) {
  RunStarted(SplitRowsGrid(a), [&](HostMachine& machine) { SplitRowsBlock(machine, a); });
}
void TopRows(const TopRowsArguments& a) {
  RunStarted(TopRowsGrid(a), [&](HostMachine& machine) { TopRowsBlock(machine, a); });
}
void MergeTop(const MergeTopArguments& a) {
  RunStarted(MergeTopGrid(a), [&](HostMachine& machine) { MergeTopBlock(machine, a); });
}

void RowSoftmax(const RowSoftmaxArguments& a) {
  RunStarted(RowSoftmaxGrid(a), [&](HostMachine& machine) { RowSoftmaxBlock(machine, a).Run(); });
}
void CountKeys(const CountKeysArguments& a) {
  RunStarted(CountKeysGrid(a), [&](HostMachine& machine) { CountKeysBlock(machine, a); });
}

template <class T>
void Rotate(const RotateArguments<T>& a) {
  RunStarted(RotateGrid(a), [&](HostMachine& machine) { RotateBlock(machine, a); });
}
template <class T>
void MergeParts(const MergePartsArguments<T>& a) {
  RunStarted(MergePartsGrid(a), [&](HostMachine& machine) { MergePartsBlock(machine, a); });
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
void RowValues(const RowValuesArguments<T>& a) {
  RunStarted(RowValuesGrid(a), [&](HostMachine& machine) { RowValuesBlock(machine, a); });
}
template <class T>
void AddParts(const AddPartsArguments<T>& a) {
  RunStarted(AddPartsGrid(a), [&](HostMachine& machine) { AddPartsBlock(machine, a); });
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
void MergeRowParts(const MergeRowPartsArguments<T>& a) {
  RunStarted(MergeRowPartsGrid(a), [&](HostMachine& machine) { MergeRowPartsBlock(machine, a); });
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
template <class T>
void NormalisedColumn(const NormalisedColumnArguments<T>& a) {
  RunStarted(NormalisedColumnGrid(a),
             [&](HostMachine& machine) { NormalisedColumnBlock(machine, a); });
}
template <class T>
void RankOneUpdate(const RankOneArguments<T>& a) {
  RunStarted(RankOneGrid(a), [&](HostMachine& machine) { RankOneBlock(machine, a); });
}
template <class T>
void Activate(const ActivateArguments<T>& a) {
  RunStarted(ActivateGrid(a), [&](HostMachine& machine) { ActivateBlock(machine, a); });
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

#define MIDSCOPE_NARROW(T)                                 \
  template void Rotate(const RotateArguments<T>&);         \
  template void MergeParts(const MergePartsArguments<T>&); \
  template void Attention(const AttentionArguments<T>&, int64_t);
#define MIDSCOPE_ANY(T)                                                \
  template void RowLogits(const RowLogitsArguments<T>&);               \
  template void RowValues(const RowValuesArguments<T>&);               \
  template void AddParts(const AddPartsArguments<T>&);                 \
  template void RowAttention(const RowAttentionArguments<T>&);         \
  template void MergeRowParts(const MergeRowPartsArguments<T>&);       \
  template void Normalise(const NormaliseArguments<T>&);               \
  template void NormaliseHeads(const HeadNormArguments<T>&);           \
  template void NormalisedColumn(const NormalisedColumnArguments<T>&); \
  template void RankOneUpdate(const RankOneArguments<T>&);             \
  template void Activate(const ActivateArguments<T>&);
MIDSCOPE_NARROW(BFloat16)
MIDSCOPE_NARROW(Float16)
MIDSCOPE_ANY(float)
MIDSCOPE_ANY(BFloat16)
MIDSCOPE_ANY(Float16)

}  // namespace midscope::kernels::cuda
