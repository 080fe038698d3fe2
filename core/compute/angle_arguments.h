// SPDX-License-Identifier: MIT
// The arguments of the kernel that forms rotary tables on a device. Internal to core.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "core/compute/device_copy.h"
#include "core/compute/rotary_cache.h"
#include "kernels/cuda/angles.h"

namespace midscope {

struct AngleTable {
  at::Tensor cos;  // [rows, pairs] float32 on the device, to be written
  at::Tensor sin;
  // What the arguments point to, until the kernel is started.
  at::Tensor inverse_frequency;
  at::Tensor ids;
  kernels::cuda::AnglesArguments arguments;
};

// For a table of angles.
inline AngleTable AngleTableOn(at::Device device, const RotaryCache::Table& table) {
  const RotaryAngles& angles = *table.angles();
  const auto floats = at::TensorOptions().dtype(at::kFloat).device(device);
  AngleTable result;
  result.cos = at::empty({table.rows(), table.pairs()}, floats);
  result.sin = at::empty_like(result.cos);
  result.inverse_frequency = CopiedTo<double>(device, angles.inverse_frequency);
  if (angles.positions.ids.given()) {
    std::vector<double> ids;
    ids.reserve(static_cast<size_t>(table.rows()));
    for (int64_t row = 0; row < table.rows(); ++row) ids.push_back(angles.positions.ids.At(row));
    result.ids = CopiedTo<double>(device, ids);
  }
  const auto doubles = [](const at::Tensor& bytes) {
    return bytes.defined() ? static_cast<const double*>(bytes.const_data_ptr()) : nullptr;
  };
  result.arguments = {doubles(result.inverse_frequency),
                      doubles(result.ids),
                      angles.positions.group,
                      angles.positions.offset,
                      angles.ratio,
                      angles.magnitude,
                      table.rows(),
                      table.pairs(),
                      result.cos.data_ptr<float>(),
                      result.sin.data_ptr<float>()};
  return result;
}

}  // namespace midscope
