// SPDX-License-Identifier: MIT
// Joins records of one sample under different settings. Internal to data/.
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope {

inline constexpr const char* kSettingAxis = "setting";

bool IsOverSettings(const Array& array);

// Appends the settings of the record `more` to those of `sample`, in the setting axis and all
// arrays with it; the rest of `sample` is unchanged. Also works for records without array data.
// Throws Error (failure), which names `what`, if arrays are missing or of another type, or integers
// that describe the prompt differ.
void JoinSettings(Record& sample, const Record& more, const std::string& what);

}  // namespace midscope
