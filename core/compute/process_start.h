// SPDX-License-Identifier: MIT
// Settings of the OpenMP library and the heap for a starting program.
#pragma once

namespace midscope {

// Must be called first in main(), with its argv.
//
// Threads spin for tens of microseconds while they wait for each other, then sleep. LibTorch's
// default spins for milliseconds: with other work on the machine, waiting threads then occupy the
// core that the awaited thread needs. Threads that sleep immediately need about ten microseconds to
// wake, a dozen times per layer. Measured (bfloat16, 512 tokens, two cores; tokens per second on an
// idle machine, then beside two busy processes): sleeping immediately 2,870 and 1,030, spinning
// 3,180 and 930, this setting 3,150 and 1,480. OpenMP reads its policy when it is loaded: if a
// program links it, this function restarts the program with GOMP_SPINCOUNT. It has no effect if the
// user has set a policy or the program cannot be restarted.
//
// The heap (glibc's) is set to keep freed buffers of the size of a layer's activations. By default
// they are returned to the system, and every layer pays for new pages (3 % of a prefill, more with
// a trace). This has no effect if the user has set thresholds in the environment.
void PrepareProcess(char** argv);

}  // namespace midscope
