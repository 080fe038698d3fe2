// SPDX-License-Identifier: MIT
// A stack for the signal handlers of a thread. Internal to core and probes.
#pragma once

namespace midscope {

// Handlers that have SA_ONSTACK run on it in the calling thread from now on, until the thread ends.
// Measured: interrupted in one of oneDNN's generated products, a handler on the thread's own stack
// damages what the product keeps below its stack pointer, and with that the heap. No effect where
// the thread has one.
void UseSignalStack();

}  // namespace midscope
