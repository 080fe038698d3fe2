// SPDX-License-Identifier: MIT
#include "kernels/cuda/launch.h"

#include "kernels/cuda/start.cuh"

namespace midscope::kernels::cuda {
namespace {

template <class T>
__global__ void RotateKernel(const RotateArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  RotateBlock(machine, arguments);
}

__global__ void AnglesKernel(const AnglesArguments arguments) {
  GpuMachine machine(SharedBytes());
  AnglesBlock(machine, arguments);
}

template <class T>
__global__ void MergePartsKernel(const MergePartsArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  MergePartsBlock(machine, arguments);
}

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

template <class T>
__global__ void RowValuesKernel(const RowValuesArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  RowValuesBlock(machine, arguments);
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

__global__ void CountKeysKernel(const CountKeysArguments arguments) {
  GpuMachine machine(SharedBytes());
  CountKeysBlock(machine, arguments);
}

template <class T>
__global__ void MergeRowPartsKernel(const MergeRowPartsArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  MergeRowPartsBlock(machine, arguments);
}

template <class T>
__global__ void AddPartsKernel(const AddPartsArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  AddPartsBlock(machine, arguments);
}

__global__ void SplitRowsKernel(const SplitRowsArguments arguments) {
  GpuMachine machine(SharedBytes());
  SplitRowsBlock(machine, arguments);
}

__global__ void TopRowsKernel(const TopRowsArguments arguments) {
  GpuMachine machine(SharedBytes());
  TopRowsBlock(machine, arguments);
}

__global__ void MergeTopKernel(const MergeTopArguments arguments) {
  GpuMachine machine(SharedBytes());
  MergeTopBlock(machine, arguments);
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

template <class T>
__global__ void NormalisedColumnKernel(const NormalisedColumnArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  NormalisedColumnBlock(machine, arguments);
}

template <class T>
__global__ void RankOneKernel(const RankOneArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  RankOneBlock(machine, arguments);
}

template <class T>
__global__ void ActivateKernel(const ActivateArguments<T> arguments) {
  GpuMachine machine(SharedBytes());
  ActivateBlock(machine, arguments);
}

}  // namespace

OnStream::OnStream(void* stream) : before_(stream_of_thread) {
  stream_of_thread = static_cast<cudaStream_t>(stream);
}
OnStream::~OnStream() { stream_of_thread = static_cast<cudaStream_t>(before_); }

void FormAngles(const AnglesArguments& arguments) {
  Start(AnglesKernel, AnglesGrid(arguments), arguments, "angles of rotary embedding");
}

void SplitRows(const SplitRowsArguments& arguments) {
  Start(SplitRowsKernel, SplitRowsGrid(arguments), arguments, "rows of keys and values");
}

void TopRows(const TopRowsArguments& arguments) {
  Start(TopRowsKernel, TopRowsGrid(arguments), arguments, "largest values of rows");
}

void MergeTop(const MergeTopArguments& arguments) {
  Start(MergeTopKernel, MergeTopGrid(arguments), arguments, "largest values of parts");
}

void RowSoftmax(const RowSoftmaxArguments& arguments) {
  Start(RowSoftmaxKernel, RowSoftmaxGrid(arguments), arguments, "softmax of rows");
}

void CountKeys(const CountKeysArguments& arguments) {
  Start(CountKeysKernel, CountKeysGrid(arguments), arguments, "count of keys");
}

template <class T>
void Rotate(const RotateArguments<T>& arguments) {
  Start(RotateKernel<T>, RotateGrid(arguments), arguments, "rotary embedding");
}
template <class T>
void MergeParts(const MergePartsArguments<T>& arguments) {
  Start(MergePartsKernel<T>, MergePartsGrid(arguments), arguments, "merge of near and far keys");
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
void RowValues(const RowValuesArguments<T>& arguments) {
  Start(RowValuesKernel<T>, RowValuesGrid(arguments), arguments, "values of rows");
}
template <class T>
void AddParts(const AddPartsArguments<T>& arguments) {
  Start(AddPartsKernel<T>, AddPartsGrid(arguments), arguments, "sums of values");
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
void MergeRowParts(const MergeRowPartsArguments<T>& arguments) {
  Start(MergeRowPartsKernel<T>, MergeRowPartsGrid(arguments), arguments,
        "merge of the rows' parts");
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
template <class T>
void NormalisedColumn(const NormalisedColumnArguments<T>& arguments) {
  Start(NormalisedColumnKernel<T>, NormalisedColumnGrid(arguments), arguments, "column of a norm");
}
template <class T>
void Activate(const ActivateArguments<T>& arguments) {
  Start(ActivateKernel<T>, ActivateGrid(arguments), arguments, "activation");
}
template <class T>
void RankOneUpdate(const RankOneArguments<T>& arguments) {
  Start(RankOneKernel<T>, RankOneGrid(arguments), arguments, "rank-one update");
}
template void Rotate(const RotateArguments<BFloat16>&);
template void Rotate(const RotateArguments<Float16>&);
template void MergeParts(const MergePartsArguments<BFloat16>&);
template void MergeParts(const MergePartsArguments<Float16>&);
template void Attention(const AttentionArguments<BFloat16>&, int64_t head_dim);
template void Attention(const AttentionArguments<Float16>&, int64_t head_dim);
template void RowLogits(const RowLogitsArguments<float>&);
template void RowLogits(const RowLogitsArguments<BFloat16>&);
template void RowLogits(const RowLogitsArguments<Float16>&);
template void RowValues(const RowValuesArguments<float>&);
template void RowValues(const RowValuesArguments<BFloat16>&);
template void RowValues(const RowValuesArguments<Float16>&);
template void AddParts(const AddPartsArguments<float>&);
template void AddParts(const AddPartsArguments<BFloat16>&);
template void AddParts(const AddPartsArguments<Float16>&);
template void RowAttention(const RowAttentionArguments<float>&);
template void RowAttention(const RowAttentionArguments<BFloat16>&);
template void RowAttention(const RowAttentionArguments<Float16>&);
template void MergeRowParts(const MergeRowPartsArguments<float>&);
template void MergeRowParts(const MergeRowPartsArguments<BFloat16>&);
template void MergeRowParts(const MergeRowPartsArguments<Float16>&);
template void Normalise(const NormaliseArguments<float>&);
template void Normalise(const NormaliseArguments<BFloat16>&);
template void Normalise(const NormaliseArguments<Float16>&);
template void NormaliseHeads(const HeadNormArguments<float>&);
template void NormaliseHeads(const HeadNormArguments<BFloat16>&);
template void NormaliseHeads(const HeadNormArguments<Float16>&);
template void NormalisedColumn(const NormalisedColumnArguments<float>&);
template void NormalisedColumn(const NormalisedColumnArguments<BFloat16>&);
template void NormalisedColumn(const NormalisedColumnArguments<Float16>&);
template void RankOneUpdate(const RankOneArguments<float>&);
template void RankOneUpdate(const RankOneArguments<BFloat16>&);
template void RankOneUpdate(const RankOneArguments<Float16>&);
template void Activate(const ActivateArguments<float>&);
template void Activate(const ActivateArguments<BFloat16>&);
template void Activate(const ActivateArguments<Float16>&);

}  // namespace midscope::kernels::cuda
