// SPDX-License-Identifier: MIT
#pragma once

namespace midscope {

// The two settings that the window compares: A (the reference) and B (the one being edited).
enum class Side { kA, kB };

}  // namespace midscope
