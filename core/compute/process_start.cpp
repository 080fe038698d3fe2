// SPDX-License-Identifier: MIT
#include "core/compute/process_start.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace midscope {
namespace {

// Value of GOMP_SPINCOUNT: iterations of the OpenMP library's loop before a waiting thread sleeps.
constexpr char kSpinCount[] = "3000";

void SpinBriefly(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  setenv("GOMP_SPINCOUNT", kSpinCount, 1);
  if (dlsym(RTLD_DEFAULT, "GOMP_parallel") == nullptr) return;
  execv("/proc/self/exe",
        argv);  // only returns if it failed; the program then runs without the setting
}

void KeepFreedBuffers() {
#ifdef __GLIBC__
  if (std::getenv("MALLOC_MMAP_THRESHOLD_") || std::getenv("MALLOC_TRIM_THRESHOLD_")) return;
  // Larger blocks (weights, traces) are returned to the system when they are freed.
  constexpr int kLargestOnHeap = 32 << 20;
  constexpr int kKept = 64 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestOnHeap);
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

}  // namespace

void PrepareProcess(char** argv) {
  SpinBriefly(argv);
  KeepFreedBuffers();
}

}  // namespace midscope
