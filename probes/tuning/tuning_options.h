// SPDX-License-Identifier: MIT
// The options of a tuning run, shared by the command line and the window's form.
#pragma once

#include <vector>

#include "core/base/options.h"

namespace midscope {

std::vector<Parameter> TuneOptions();

}  // namespace midscope
