// SPDX-License-Identifier: MIT
// The list of CUDA kernels without variants. Each consists of NAMEBlock(machine, arguments),
// NAMEArguments and NAMEGrid(arguments) in a header of this folder, and one line here. For each,
// launch.h declares FUNCTION(arguments), launch.cu launches it on a GPU, and tests run it on the
// CPU (tests/kernels/support/launch_on_host.cpp). Kernels with variants are listed in these files
// instead.
#pragma once

// clang-format off
// PLAIN(FUNCTION, NAME, "purpose, for error messages"): kernel whose arguments have no type
// parameter. NARROW(...): kernel for T = BFloat16 and Float16. ANY(...): also for T = float.
#define MIDSCOPE_CUDA_KERNELS(PLAIN, NARROW, ANY)                      \
  PLAIN(FormAngles, Angles, "angles of rotary embedding")              \
  PLAIN(SplitRows, SplitRows, "rows of keys and values")               \
  PLAIN(TopRows, TopRows, "largest values of rows")                    \
  PLAIN(MergeTop, MergeTop, "largest values of parts")                 \
  PLAIN(CountKeys, CountKeys, "count of keys")                         \
  NARROW(Rotate, Rotate, "rotary embedding")                           \
  NARROW(MergeParts, MergeParts, "merge of near and far keys")         \
  ANY(RowValues, RowValues, "values of rows")                          \
  ANY(AddParts, AddParts, "sums of values")                            \
  ANY(MergeRowParts, MergeRowParts, "merge of the rows' parts")        \
  ANY(NormalisedColumn, NormalisedColumn, "column of a norm")          \
  ANY(RankOneUpdate, RankOne, "rank-one update")                       \
  ANY(Activate, Activate, "activation")
// clang-format on

// Instantiates all kernels, including those with variants, for all types. Used at the end of a
// source that defines the functions of launch.h.
#define MIDSCOPE_NOT_TYPED(Function, Name, what)
#define MIDSCOPE_NARROW(Function, Name, what)               \
  template void Function(const Name##Arguments<BFloat16>&); \
  template void Function(const Name##Arguments<Float16>&);
#define MIDSCOPE_ANY(Function, Name, what)               \
  template void Function(const Name##Arguments<float>&); \
  MIDSCOPE_NARROW(Function, Name, what)
#define MIDSCOPE_INSTANTIATE_CUDA_KERNELS                                         \
  MIDSCOPE_CUDA_KERNELS(MIDSCOPE_NOT_TYPED, MIDSCOPE_NARROW, MIDSCOPE_ANY)        \
  MIDSCOPE_ANY(RowLogits, RowLogits, )                                            \
  MIDSCOPE_ANY(RowAttention, RowAttention, )                                      \
  MIDSCOPE_ANY(Normalise, Normalise, )                                            \
  MIDSCOPE_ANY(NormaliseHeads, HeadNorm, )                                        \
  template void Attention(const AttentionArguments<BFloat16>&, int64_t head_dim); \
  template void Attention(const AttentionArguments<Float16>&, int64_t head_dim);
