// SPDX-License-Identifier: MIT
#include "core/base/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

namespace midscope {
namespace {

void Require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error("record: " + what);
}

void CheckAxis(const Axis& axis) {
  const auto size = static_cast<size_t>(axis.size);
  Require(!axis.name.empty(), "an axis has no name");
  Require(axis.size >= 0, "axis '" + axis.name + "' has a negative size");
  Require(axis.labels.empty() || axis.labels.size() == size,
          fmt::format("axis '{}' has {} labels for {} places", axis.name, axis.labels.size(),
                      axis.size));
  Require(axis.values.empty() || axis.values.size() == size,
          fmt::format("axis '{}' has {} values for {} places", axis.name, axis.values.size(),
                      axis.size));
}

void CheckArray(const Record& record, const Array& array) {
  Require(!array.name.empty(), "an array of '" + record.name + "' has no name");
  int64_t expected = 1;
  std::set<std::string> seen;
  for (const std::string& name : array.axes) {
    const Axis* axis = record.FindAxis(name);
    Require(axis != nullptr, "array '" + array.name + "' names a missing axis '" + name + "'");
    Require(seen.insert(name).second, "array '" + array.name + "' has axis '" + name + "' twice");
    expected *= axis->size;
  }
  Require(ElementCount(array.data) == expected,
          fmt::format("array '{}' holds {} elements where its axes make {}", array.name,
                      ElementCount(array.data), expected));
}

}  // namespace

const Axis* Record::FindAxis(const std::string& axis_name) const {
  for (const Axis& axis : axes) {
    if (axis.name == axis_name) return &axis;
  }
  return nullptr;
}

const Array* Record::FindArray(const std::string& array_name) const {
  for (const Array& array : arrays) {
    if (array.name == array_name) return &array;
  }
  return nullptr;
}

void Record::Check() const {
  std::set<std::string> names;
  for (const Axis& axis : axes) {
    CheckAxis(axis);
    Require(names.insert(axis.name).second, "axis '" + axis.name + "' occurs twice");
  }
  for (const Array& array : arrays) {
    CheckArray(*this, array);
    Require(names.insert(array.name).second,
            "name '" + array.name + "' occurs twice among axes and arrays");
  }
  Require(signal.empty() || FindArray(signal) != nullptr,
          "signal '" + signal + "' is not an array of the record");
}

int64_t ElementCount(const ArrayData& data) {
  return std::visit([](const auto& values) { return static_cast<int64_t>(values.size()); }, data);
}

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
