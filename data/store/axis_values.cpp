// SPDX-License-Identifier: MIT
#include "data/store/axis_values.h"

#include <cmath>
#include <numeric>

namespace midscope {

ArrayData AxisValues(const Axis& axis) {
  constexpr double kExactWhole = 9007199254740992;  // 2^53
  std::vector<int64_t> whole(static_cast<size_t>(axis.size));
  if (axis.values.empty()) {
    std::iota(whole.begin(), whole.end(), 0);
    return whole;
  }
  for (size_t i = 0; i < axis.values.size(); ++i) {
    const double value = axis.values[i];
    if (!(std::abs(value) < kExactWhole) || value != std::floor(value) ||
        (value == 0 && std::signbit(value))) {
      return axis.values;
    }
    whole[i] = static_cast<int64_t>(value);
  }
  return whole;
}

}  // namespace midscope
