// SPDX-License-Identifier: MIT
// Access to arrays of records by name and type.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// The values of an array. Throws std::logic_error where it does not exist, std::bad_variant_access
// where it has another type.
template <typename T>
const std::vector<T>& ArrayValues(const Record& record, const std::string& array) {
  const Array* found = record.FindArray(array);
  if (!found) throw std::logic_error("record '" + record.name + "' has no array '" + array + "'");
  return std::get<std::vector<T>>(found->data);
}

// The axis of that name. Throws std::logic_error where it does not exist.
inline const Axis& AxisOf(const Record& record, const std::string& axis) {
  const Axis* found = record.FindAxis(axis);
  if (!found) throw std::logic_error("record '" + record.name + "' has no axis '" + axis + "'");
  return *found;
}

}  // namespace midscope
