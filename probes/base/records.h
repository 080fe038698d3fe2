// SPDX-License-Identifier: MIT
// Axes of records, access to their arrays by name and type, and partial records.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Makes an axis whose values are 0, 1, ..., size - 1, without storing them.
Axis CountedAxis(const std::string& name, int64_t size);
// Makes an axis with one integer per index (channel numbers, positions, gold places).
Axis ValuedAxis(const std::string& name, const std::vector<int64_t>& values);
// Makes an axis with one text label per index (settings).
Axis LabelledAxis(const std::string& name, std::vector<std::string> labels);

// Returns the values of the record's array of that name. Throws std::logic_error if there is no
// such array, std::bad_variant_access if its elements have another type.
template <typename T>
const std::vector<T>& ArrayValues(const Record& record, const std::string& array) {
  const Array* found = record.FindArray(array);
  if (!found) throw std::logic_error("record '" + record.name + "' has no array '" + array + "'");
  return std::get<std::vector<T>>(found->data);
}

// Returns the record's axis of that name. Throws std::logic_error if there is none.
inline const Axis& AxisOf(const Record& record, const std::string& axis) {
  const Axis* found = record.FindAxis(axis);
  if (!found) throw std::logic_error("record '" + record.name + "' has no axis '" + axis + "'");
  return *found;
}

// Partial records of a run that has not finished: the values of unfinished layers are NaN, and the
// attribute layers_done is the number of finished layers.

// Integer attribute of a partial record, the number of finished layers: the values of all lower
// layers are final. Complete records do not have this attribute.
inline constexpr char kLayersDone[] = "layers_done";

// Whether the record is partial. Partial records are shown, never stored.
inline bool IsPartial(const Record& record) { return record.attributes.contains(kLayersDone); }

}  // namespace midscope
