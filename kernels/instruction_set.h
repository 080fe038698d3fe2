// SPDX-License-Identifier: MIT
// Reports the instruction set that kernels use: the CPU's, unless ATEN_CPU_CAPABILITY (LibTorch's
// variable: default, avx2 or avx512) requests a smaller one, with which a machine can reproduce the
// behaviour of another.
#pragma once

#include <string>

namespace midscope::kernels {

// Returns "AVX-512 with bfloat16 matrix tiles", "AVX-512 with bfloat16 products", "AVX-512",
// "AVX2", "SSE4", "NEON" or "none".
std::string InstructionSetName();

// Whether one instruction multiplies pairs of bfloat16 and adds them in float32 (AVX-512 BF16), and
// is faster than float32: false on Intel's CPUs without matrix tiles.
bool HasBFloat16Products();

// Whether one instruction also multiplies tiles of bfloat16 (AMX). ONEDNN_MAX_CPU_ISA (oneDNN's
// variable) set to less than AMX excludes them.
bool HasMatrixTiles();

}  // namespace midscope::kernels
