// SPDX-License-Identifier: MIT
// Copies of values that kernels read as they are. Internal to core.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <span>

namespace midscope {

// The bytes of `values` in the device's memory. For a GPU from pinned memory, as other copies wait
// for it.
template <class T>
at::Tensor CopiedTo(at::Device device, std::span<const T> values) {
  const at::Tensor host =
      at::empty({static_cast<int64_t>(values.size_bytes())},
                at::TensorOptions().dtype(at::kByte).pinned_memory(device.is_cuda()));
  std::copy(values.begin(), values.end(), static_cast<T*>(host.data_ptr()));
  return host.to(device, /*non_blocking=*/true);
}

}  // namespace midscope
