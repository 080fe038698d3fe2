// SPDX-License-Identifier: MIT
#include "kernels/instruction_set.h"

#include <hwy/targets.h>
#include <cstdlib>
#include <string_view>

namespace midscope::kernels {
namespace {

// Excludes what the environment does not allow; returns whether AVX-512 is allowed.
bool LimitTargets() {
  const char* const capability = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string_view limit = capability != nullptr ? capability : "";
#if HWY_ARCH_X86
  // Better targets are lower bits.
  const auto allow_up_to = [](int64_t target) { hwy::DisableTargets(target - 1); };
  if (limit == "avx2") allow_up_to(HWY_AVX2);
  if (limit == "default") allow_up_to(HWY_SSE4);
#endif
  return limit != "avx2" && limit != "default";
}

// Before the first kernel runs: Highway keeps what it chose.
const bool wide_allowed = LimitTargets();

bool CpuHasBFloat16Products() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

}  // namespace

bool HasBFloat16Products() {
  static const bool present = wide_allowed && CpuHasBFloat16Products();
  return present;
}

std::string InstructionSetName() {
  const int64_t targets = hwy::SupportedTargets();
  // Asking makes Highway choose among all that the CPU has, whatever is excluded (1.0.3).
  hwy::GetChosenTarget().Update(targets);
#if HWY_ARCH_X86
  if (HasBFloat16Products()) return "AVX-512 with bfloat16 products";
  if (targets & HWY_AVX3) return "AVX-512";
  if (targets & HWY_AVX2) return "AVX2";
  if (targets & HWY_SSE4) return "SSE4";
#else
  if (targets & HWY_NEON) return "NEON";
#endif
  return "none";
}

}  // namespace midscope::kernels
