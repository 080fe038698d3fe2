// SPDX-License-Identifier: MIT
// Options of `midscope influence` that state which gradients are computed. The command line, the
// window's form and their help are made from them.
#pragma once

#include <vector>

#include "core/base/parameter.h"

namespace midscope {

// Returns the options cotangents, cotangent-seed and parts.
std::vector<Parameter> GradientOptions();

}  // namespace midscope
