// SPDX-License-Identifier: MIT
#pragma once

namespace midscope {

// The two settings that are always compared: A (the reference) and B (the one under the hand).
enum class Side { kA, kB };

}  // namespace midscope
