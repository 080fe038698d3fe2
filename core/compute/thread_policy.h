// SPDX-License-Identifier: MIT
// How threads wait for each other between pieces of work.
#pragma once

namespace midscope {

// LibTorch's OpenMP threads spin while they wait. On a machine with other work they occupy the core
// that the awaited thread needs (measured with two busy cores: 440 tokens per second spinning,
// 1,660 sleeping, and no difference on an idle machine). OpenMP reads its policy before main()
// runs, so this function restarts the program with OMP_WAIT_POLICY=passive. No effect where the
// user has set a policy, or where restarting is not possible. Call it first in main().
void WaitForThreadsPassively(char** argv);

}  // namespace midscope
