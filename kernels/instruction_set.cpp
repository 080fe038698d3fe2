// SPDX-License-Identifier: MIT
#include "kernels/instruction_set.h"

#include <hwy/targets.h>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <string_view>

namespace midscope::kernels {
namespace {

// Excludes instruction sets above ATEN_CPU_CAPABILITY from Highway's choice; returns whether
// AVX-512 is allowed.
bool LimitTargets() {
  const char* const capability = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string_view limit = capability != nullptr ? capability : "";
#if HWY_ARCH_X86
  // In Highway, better targets (instruction sets) have lower bits.
  const auto allow_up_to = [](int64_t target) { hwy::DisableTargets(target - 1); };
  if (limit == "avx2") allow_up_to(HWY_AVX2);
  if (limit == "default") allow_up_to(HWY_SSE4);
#endif
  return limit != "avx2" && limit != "default";
}

// Must be initialised before the first kernel runs, because Highway does not repeat its choice.
const bool wide_allowed = LimitTargets();

bool CpuHasBFloat16Products() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

#if defined(__x86_64__) && defined(__linux__)
// Whether the CPU has AMX-TILE and AMX-BF16 (CPUID); not all compilers' builtins can tell.
bool CpuHasMatrixTiles() {
  constexpr unsigned kFeatures = 7;
  constexpr unsigned kWanted = 1u << 22 | 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (d & kWanted) == kWanted;
}

// Requests permission to use AMX tiles from Linux, which requires it because tiles make the saved
// state of threads 8 KiB larger. Returns whether it is granted.
bool MayUseMatrixTiles() {
  constexpr int64_t kAskForState = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int64_t kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}

// Whether ONEDNN_MAX_CPU_ISA allows AMX. oneDNN's variable is used so that it limits all libraries.
bool TilesAllowed() {
  const char* const limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  const std::string_view name = limit != nullptr ? limit : "ALL";
  return name == "ALL" || name == "DEFAULT" || name.find("AMX") != std::string_view::npos ||
         name.find("amx") != std::string_view::npos;
}
#endif

}  // namespace

bool HasMatrixTiles() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool present = wide_allowed && CpuHasBFloat16Products() && CpuHasMatrixTiles() &&
                              TilesAllowed() && MayUseMatrixTiles();
  return present;
#else
  return false;
#endif
}

// Intel's vector instruction for bfloat16 is slower than two float32 instructions per cycle
// (measured: 116 and 195 GFLOP/s); Intel CPUs that have it usually have tiles.
static bool ProductsAreFast() {
#if defined(__x86_64__) && defined(__GNUC__)
  return !__builtin_cpu_is("intel") || HasMatrixTiles();
#else
  return true;
#endif
}

bool HasBFloat16Products() {
  static const bool present = wide_allowed && CpuHasBFloat16Products() && ProductsAreFast();
  return present;
}

std::string InstructionSetName() {
  const int64_t targets = hwy::SupportedTargets();
  // SupportedTargets() made Highway choose among all targets, even excluded ones (1.0.3). Chooses
  // again.
  hwy::GetChosenTarget().Update(targets);
#if HWY_ARCH_X86
  if (HasMatrixTiles()) return "AVX-512 with bfloat16 matrix tiles";
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
