// SPDX-License-Identifier: MIT
// A task's spec as text, without the task.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// The spec with every parameter stated, as Task::name() gives it; reads no file. Throws Error
// (usage) as MakeTask does.
std::string TaskInFull(std::string_view spec);

}  // namespace midscope
