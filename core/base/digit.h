// SPDX-License-Identifier: MIT
#pragma once

namespace midscope {

// 0 to 9, whatever the locale says.
constexpr bool IsDigit(char character) { return character >= '0' && character <= '9'; }

}  // namespace midscope
