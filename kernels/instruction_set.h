// SPDX-License-Identifier: MIT
// The instruction sets that kernels use: the CPU's, unless ATEN_CPU_CAPABILITY (LibTorch's
// variable: default, avx2 or avx512) requests less, so that one machine can show the behaviour of
// another.
#pragma once

#include <string>

namespace midscope::kernels {

// "AVX-512 with bfloat16 matrix tiles", "AVX-512 with bfloat16 products", "AVX-512", "AVX2",
// "SSE4", "NEON", "none".
std::string InstructionSetName();

// Whether pairs of bfloat16 are multiplied and summed in float32 by one instruction (AVX-512 BF16),
// faster than in float32: not on Intel's CPUs without matrix tiles.
bool HasBFloat16Products();

// Whether tiles of bfloat16 are multiplied by one instruction (AMX), too. ONEDNN_MAX_CPU_ISA
// (oneDNN's variable) set to less than AMX excludes them.
bool HasMatrixTiles();

}  // namespace midscope::kernels
