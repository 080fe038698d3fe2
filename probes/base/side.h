// SPDX-License-Identifier: MIT
#pragma once

namespace midscope {

// The two settings that are compared: A (the reference) and B (the one being edited).
enum class Side { kA, kB };

}  // namespace midscope
