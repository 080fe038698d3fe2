// SPDX-License-Identifier: MIT
// Axes that several records share, with the same names and values everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// An axis counted 0, 1, ...
Axis CountedAxis(const std::string& name, int64_t size);
// An axis whose indices have numbers (channels, positions, gold places).
Axis ValuedAxis(const std::string& name, const std::vector<int64_t>& values);
// An axis whose indices have labels (settings).
Axis LabelledAxis(const std::string& name, std::vector<std::string> labels);

}  // namespace midscope
