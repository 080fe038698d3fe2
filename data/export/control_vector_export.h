// SPDX-License-Identifier: MIT
// An array of a record as a control vector.
#pragma once

#include <string>

#include "core/base/record.h"
#include "core/formats/control_vector_file.h"

namespace midscope {

// The control vector in the record's one array, [layer, channel]; further axes of size 1 do not
// count. Row N is added after block N in core/formats/control_vector_file.h's count, which is that
// of the axis `layer`; layer 0 is left out, as llama.cpp takes no direction there. Throws Error
// (usage) if the array has another shape, holds no numbers or one that is not finite.
ControlVector ControlVectorOf(const Record& record, const std::string& model_hint);

}  // namespace midscope
