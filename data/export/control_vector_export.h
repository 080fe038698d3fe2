// SPDX-License-Identifier: MIT
// Converts an array of a record to a control vector.
#pragma once

#include <string>

#include "core/base/record.h"
#include "core/formats/control_vector_file.h"

namespace midscope {

// Returns the control vector in the record's only array, [layer, channel]; further axes of size 1
// are ignored. The row of layer N is added after block N, counted as in
// core/formats/control_vector_file.h; layer 0 is omitted, because llama.cpp accepts no direction
// there. Throws Error (usage) if the array has another shape, is not of real numbers or has a
// number that is not finite.
ControlVector ControlVectorOf(const Record& record, const std::string& model_hint);

}  // namespace midscope
