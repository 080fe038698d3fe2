// SPDX-License-Identifier: MIT
#include "probes/base/records.h"

#include <utility>

namespace midscope {

Axis CountedAxis(const std::string& name, int64_t size) {
  Axis axis;
  axis.name = name;
  axis.size = size;
  return axis;
}

Axis ValuedAxis(const std::string& name, const std::vector<int64_t>& values) {
  Axis axis = CountedAxis(name, static_cast<int64_t>(values.size()));
  axis.values.assign(values.begin(), values.end());
  return axis;
}

Axis LabelledAxis(const std::string& name, std::vector<std::string> labels) {
  Axis axis = CountedAxis(name, static_cast<int64_t>(labels.size()));
  axis.labels = std::move(labels);
  return axis;
}

}  // namespace midscope
