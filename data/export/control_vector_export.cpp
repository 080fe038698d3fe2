// SPDX-License-Identifier: MIT
#include "data/export/control_vector_export.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace midscope {
namespace {

[[noreturn]] void Refuse(const Array& array, const std::string& reason) {
  throw UsageError("array '" + array.name + "'", reason,
                   "Give --array with one of [layer, channel], such as position_direction");
}

// Returns the axes with more than one element, and `layer`.
std::vector<const Axis*> LongAxes(const Record& record, const Array& array) {
  std::vector<const Axis*> axes;
  for (const std::string& name : array.axes) {
    const Axis* axis = record.FindAxis(name);
    if (axis->size != 1 || name == "layer") axes.push_back(axis);
  }
  return axes;
}

std::vector<float> Floats(const Array& array) {
  return std::visit(
      [&](const auto& values) -> std::vector<float> {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_floating_point_v<T>) {
          return {values.begin(), values.end()};
        } else {
          Refuse(array, "it must contain real numbers");
        }
      },
      array.data);
}

}  // namespace

ControlVector ControlVectorOf(const Record& record, const std::string& model_hint) {
  const Array& array = record.arrays.front();
  if (record.arrays.size() > 1) Refuse(array, "it is not the only one in the file");
  const std::vector<const Axis*> axes = LongAxes(record, array);
  if (axes.size() != 2 || axes.front()->name != "layer")
    Refuse(array, "a control vector has one direction a layer, and this is not [layer, channel]");
  const std::vector<float> values = Floats(array);
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }))
    Refuse(array, "it holds a number that is not finite");
  const auto width = static_cast<size_t>(axes.back()->size);
  ControlVector vector{model_hint, {}};
  for (size_t i = 0; i < static_cast<size_t>(axes.front()->size); ++i) {
    const auto& numbers = axes.front()->values;
    const auto layer = numbers.empty() ? static_cast<int64_t>(i) : std::llround(numbers[i]);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * width);
    if (layer > 0)
      vector.directions[layer].assign(first, first + static_cast<std::ptrdiff_t>(width));
  }
  if (vector.directions.empty()) Refuse(array, "it has only layer 0, which llama.cpp does not use");
  return vector;
}

}  // namespace midscope
