// SPDX-License-Identifier: MIT
// Recorded work of a GPU: a CUDA graph of LibTorch's operations and of kernels of kernels/cuda. One
// launch replaces some hundred kernel launches, each of which costs the CPU microseconds. Internal
// to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/compute/layer_ops.h"

namespace midscope {

// Records the launches of `work` on the GPU without running them. `read`: the tensors that `work`
// reads but does not create; the list is complete when `work` returns. The graph keeps them alive.
// Returns null if something cannot be recorded: a wait for the GPU, or a copy from or to memory
// that is not pinned.
std::unique_ptr<RecordedWork> RecordGraph(at::Device device, const std::function<void()>& work,
                                          const std::vector<at::Tensor>& read);

}  // namespace midscope
