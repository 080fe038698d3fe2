// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Axes that several records share, with the same names and values everywhere.

// An axis counted 0, 1, ...
Axis CountedAxis(const std::string& name, int64_t size);
// An axis whose indices have numbers (channels, positions, gold places).
Axis ValuedAxis(const std::string& name, const std::vector<int64_t>& values);
// An axis whose indices have labels (settings).
Axis LabelledAxis(const std::string& name, std::vector<std::string> labels);

// Access to arrays of records by name and type.

// The values of an array. Throws std::logic_error if it does not exist, std::bad_variant_access if
// it has another type.
template <typename T>
const std::vector<T>& ArrayValues(const Record& record, const std::string& array) {
  const Array* found = record.FindArray(array);
  if (!found) throw std::logic_error("record '" + record.name + "' has no array '" + array + "'");
  return std::get<std::vector<T>>(found->data);
}

// The axis of that name. Throws std::logic_error if it does not exist.
inline const Axis& AxisOf(const Record& record, const std::string& axis) {
  const Axis* found = record.FindAxis(axis);
  if (!found) throw std::logic_error("record '" + record.name + "' has no axis '" + axis + "'");
  return *found;
}

// Records of a run that goes on: values of layers that are not done are NaN (no value), and an
// attribute has the number of layers that are.

// Attribute (integer) of a partial record: layers below it are final. A whole record has none.
inline constexpr char kLayersDone[] = "layers_done";

// Whether the record is of a run that had not ended. Partial records are shown, never stored.
inline bool IsPartial(const Record& record) { return record.attributes.contains(kLayersDone); }

}  // namespace midscope
