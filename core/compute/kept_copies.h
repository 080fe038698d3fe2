// SPDX-License-Identifier: MIT
// Copies on a device of values that are asked for again and again. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace midscope {

// The copies of the latest `most` arrays, found by what they hold.
template <class T>
class KeptCopies {
 public:
  explicit KeptCopies(size_t most) : most_(most) {}

  // copy(values) where there is none.
  template <class Copy>
  const at::Tensor& Of(const std::vector<T>& values, const Copy& copy) {
    auto found = std::find_if(kept_.begin(), kept_.end(),
                              [&](const auto& kept) { return kept.first == values; });
    if (found == kept_.end()) {
      at::Tensor made = copy(values);
      if (kept_.size() == most_) kept_.pop_back();
      kept_.emplace_back(values, std::move(made));
      found = kept_.end() - 1;
    }
    std::rotate(kept_.begin(), found, found + 1);
    return kept_.front().second;
  }

 private:
  size_t most_;
  std::vector<std::pair<std::vector<T>, at::Tensor>> kept_;  // the latest first
};

}  // namespace midscope
