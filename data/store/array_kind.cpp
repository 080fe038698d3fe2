// SPDX-License-Identifier: MIT
#include "data/store/array_kind.h"

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

}  // namespace midscope
