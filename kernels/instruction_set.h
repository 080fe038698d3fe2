// SPDX-License-Identifier: MIT
// Reports the CPU instruction set that kernels use: the best one of the CPU, unless the environment
// variable ATEN_CPU_CAPABILITY (LibTorch's: default, avx2 or avx512) requests a smaller one, for
// example to reproduce results of another machine.
#pragma once

#include <string>

namespace midscope::kernels {

// Returns "AVX-512 with bfloat16 matrix tiles", "AVX-512 with bfloat16 products", "AVX-512",
// "AVX2", "SSE4", "NEON" or "none".
std::string InstructionSetName();

// Whether the CPU has an instruction that multiplies pairs of bfloat16 and adds in float32 (AVX-512
// BF16), and it is faster than float32: false on Intel's CPUs without matrix tiles.
bool HasBFloat16Products();

// Whether the CPU has an instruction that multiplies tiles of bfloat16 (AMX), and the environment
// variable ONEDNN_MAX_CPU_ISA (oneDNN's) allows AMX.
bool HasMatrixTiles();

}  // namespace midscope::kernels
