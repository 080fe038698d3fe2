// SPDX-License-Identifier: MIT
// Sums over the tensors of a model's file, of tensors that are named and ordered as the decoder's
// weights: gradients, or changes of weights. The same sums are made by
// tests/core/make/make_gradients_golden.py.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/model/model_source.h"
#include "core/tuning/trainable_weights.h"

namespace midscope::test {

// Sums over a tensor of the file, of which several weights may be parts.
struct FileSums {
  double squares = 0;
  // By flat index i, negated where bit 16 of i * 2654435761 (mod 2^32) is set.
  double signed_sum = 0;

  void Add(int64_t flat, double value) {
    constexpr uint32_t kFactor = 2654435761U;
    constexpr uint32_t kBit = 1U << 16;
    squares += value * value;
    signed_sum += (static_cast<uint32_t>(flat) * kFactor & kBit) != 0 ? -value : value;
  }
};

// Returns the sums by the tensors' names in the file. `expected`: the last dimension of each there
// is [name][0]; a matrix with another number of columns is stored transposed.
inline std::map<std::string, FileSums> SumsOfFile(const ModelSource& source,
                                                  const NamedTensors& tensors,
                                                  const nlohmann::json& expected) {
  // The elements of a bias, and of a norm with weights for each head, are at the rows of a matrix.
  const auto matrix_of = [&](const std::string& name) {
    if (name.ends_with(".bias")) return name.substr(0, name.size() - 5);
    const std::string matrix = name.substr(0, name.size() - std::min<size_t>(name.size(), 5));
    const TensorRef* rows = name.ends_with("_norm") ? source.Find(matrix) : nullptr;
    const bool is_ordered =
        rows != nullptr && !rows->row_order.empty() && rows->rows == source.Find(name)->columns;
    return is_ordered ? matrix : name;
  };
  std::map<std::string, const std::byte*> first;  // row of each tensor of the file
  for (const auto& [name, tensor] : tensors) {
    const TensorRef& rows = *source.Find(matrix_of(name));
    const auto [found, is_new] = first.try_emplace(rows.file_name, rows.data);
    if (!is_new) found->second = std::min(found->second, rows.data);
  }
  std::map<std::string, FileSums> sums;
  for (const auto& [name, tensor] : tensors) {
    const bool is_vector = matrix_of(name) != name;
    const std::string& file_name = source.Find(name)->file_name;
    const TensorRef& rows = *source.Find(matrix_of(name));
    const int64_t columns = is_vector ? 1 : rows.columns;
    const int64_t offset = (rows.data - first.at(rows.file_name)) / rows.row_bytes;
    const int64_t width = expected.contains(file_name) ? expected[file_name][0].get<int64_t>() : 0;
    const bool transposed = !is_vector && rows.rows > 1 && width > 0 && width != columns;
    const at::Tensor values = tensor.detach().to(at::kDouble).contiguous();
    for (int64_t i = 0; i < values.numel(); ++i) {
      const int64_t at = i / columns;
      const int64_t row =
          offset + (rows.row_order.empty() ? at : rows.row_order[static_cast<size_t>(at)]);
      const int64_t flat = transposed ? (row / width * columns + i % columns) * width + row % width
                                      : row * columns + i % columns;
      sums[file_name].Add(flat, values.const_data_ptr<double>()[i]);
    }
  }
  return sums;
}

}  // namespace midscope::test
