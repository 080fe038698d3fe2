// SPDX-License-Identifier: MIT
#include "tests/kernels/ptx/ptx_thread.h"

#include <stdexcept>

namespace midscope::kernels::cuda::ptx {

void Refuse(const char* what) { throw std::logic_error(what); }

}  // namespace midscope::kernels::cuda::ptx
