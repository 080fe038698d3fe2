// SPDX-License-Identifier: MIT
#include "tests/kernels/ptx/ptx_thread.h"

#include "kernels/check.h"

namespace midscope::kernels::cuda::ptx {

void Refuse(const char* what) { MIDSCOPE_BUG(what); }

}  // namespace midscope::kernels::cuda::ptx
