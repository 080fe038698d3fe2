// SPDX-License-Identifier: MIT
// The list of kernels that are launched in the same way: a kernel is a body, NAMEBlock(machine,
// arguments), with NAMEArguments and NAMEGrid(arguments) in a header of this folder, and one line
// here. launch.h declares FUNCTION(arguments) for each, launch.cu launches them on a GPU, and tests
// run them on the CPU (tests/kernels/support/launch_on_host.cpp). Kernels with variants are listed
// in these files instead.
#pragma once

// clang-format off
// PLAIN(FUNCTION, NAME, "what it computes, in error messages"): for arguments without a type
// parameter. NARROW(...): for T = BFloat16 and Float16. ANY(...): also for float.
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

// The types of ANY and NARROW: expands to INSTANTIATE(FUNCTION, ARGUMENTS<T>) once per type.
#define MIDSCOPE_NARROW_TYPES(INSTANTIATE, Function, Arguments) \
  INSTANTIATE(Function, Arguments<BFloat16>)                    \
  INSTANTIATE(Function, Arguments<Float16>)
#define MIDSCOPE_ANY_TYPES(INSTANTIATE, Function, Arguments) \
  INSTANTIATE(Function, Arguments<float>)                    \
  MIDSCOPE_NARROW_TYPES(INSTANTIATE, Function, Arguments)
