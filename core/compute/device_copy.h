// SPDX-License-Identifier: MIT
// Copies values to a device bytewise, for kernels that read them directly. Internal to core.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <span>

namespace midscope {

// Returns the bytes of `values` in the device's memory. To a GPU they are copied from pinned
// memory, because other copies wait for the GPU.
template <class T>
at::Tensor CopiedTo(at::Device device, std::span<const T> values) {
  const at::Tensor host =
      at::empty({static_cast<int64_t>(values.size_bytes())},
                at::TensorOptions().dtype(at::kByte).pinned_memory(device.is_cuda()));
  std::copy(values.begin(), values.end(), static_cast<T*>(host.data_ptr()));
  return host.to(device, /*non_blocking=*/true);
}

}  // namespace midscope
