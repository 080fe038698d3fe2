// SPDX-License-Identifier: MIT
// Settings of the OpenMP library and the heap when a program starts.
#pragma once

namespace midscope {

// Call first in main(); argv are main's.
//
// Threads spin for tens of microseconds while they wait for each other, then sleep. LibTorch's
// default spins for milliseconds: with other work on the machine, waiting threads occupy the core
// that the awaited one needs. Threads that sleep at once need some ten microseconds to wake, for
// each of a dozen pieces of work in a layer. Measured (bfloat16, 512 tokens, two cores; tokens per
// second idle, then beside two busy processes): sleeping at once 2,870 and 1,030, spinning 3,180
// and 930, this 3,150 and 1,480. OpenMP reads its policy before main() runs, so this function
// restarts the program with GOMP_SPINCOUNT. Nothing happens where the user has set a policy, or
// where restarting is not possible.
//
// The heap (glibc's) keeps freed buffers of the size of a layer's activations: by default they go
// back to the system, and every layer pays for fresh pages (3 % of a prefill, more with a trace).
// Nothing happens where the user has set thresholds by the environment.
void PrepareProcess(char** argv);

}  // namespace midscope
