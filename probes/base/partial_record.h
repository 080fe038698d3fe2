// SPDX-License-Identifier: MIT
// Records of a run that goes on: values of layers that are not done are NaN (no value), and an
// attribute has the number of layers that are.
#pragma once

#include <cstdint>

#include "core/base/record.h"

namespace midscope {

// Attribute (integer) of a partial record: layers below it are final. A whole record has none.
inline constexpr char kLayersDone[] = "layers_done";

// Whether the record is of a run that had not ended. Partial records are shown, never stored.
inline bool IsPartial(const Record& record) { return record.attributes.contains(kLayersDone); }

}  // namespace midscope
