// SPDX-License-Identifier: MIT
// Records of one sample under several settings as one record. Internal to data/.
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope {

inline constexpr const char* kSettingAxis = "setting";

bool IsOverSettings(const Array& array);

// Appends the settings of `more` to those of `sample`, in the axis and in all arrays over it;
// everything else is `sample`'s. Also for frames, whose arrays are empty. Throws Error (failure),
// which names `what`, if arrays are missing or of another kind, or numbers that describe the prompt
// differ.
void JoinSettings(Record& sample, const Record& more, const std::string& what);

}  // namespace midscope
