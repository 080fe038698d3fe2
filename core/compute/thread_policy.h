// SPDX-License-Identifier: MIT
// How threads wait for one another between pieces of work.
#pragma once

namespace midscope {

// LibTorch's OpenMP threads spin while they wait. On a machine that does anything else at the same
// time they spin on the very core that the thread they wait for needs (measured with two busy
// cores: 440 tokens a second spinning, 1,660 sleeping, and no difference on an idle machine).
// OpenMP reads its policy before main() runs, so this starts the program once more with
// OMP_WAIT_POLICY=passive. Does nothing where the user has chosen a policy, or where starting again
// is not possible. Call first in main().
void WaitForThreadsPassively(char** argv);

}  // namespace midscope
