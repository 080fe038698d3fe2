// SPDX-License-Identifier: MIT
#include "core/base/array_kinds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace midscope {

bool IsMeasured(const Array& array) {
  if (std::holds_alternative<std::vector<std::string>>(array.data)) return false;
  if (std::holds_alternative<std::vector<int64_t>>(array.data)) return array.unit == kRankFromZero;
  return true;
}

bool IsOverHeads(const Array& array) {
  const size_t axes = array.axes.size();
  return axes >= 2 && array.axes[axes - 2] == "layer" && array.axes[axes - 1] == "head";
}

bool HasAxis(const Array& array, const std::string& axis) {
  return std::find(array.axes.begin(), array.axes.end(), axis) != array.axes.end();
}

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
