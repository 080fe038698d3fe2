// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/quantised/dequantise.h"

namespace midscope::kernels {

// Sets a block's binary16 scales.
inline void SetScales(const BlockFormat& format, char* block, uint16_t half) {
  for (const int64_t offset : {format.scales.first, format.scales.second}) {
    if (offset == kNoScale) continue;
    if (!format.scales.spread) {
      std::memcpy(block + offset, &half, 2);
      continue;
    }
    for (int64_t nibble = 0; nibble < 4; ++nibble) {
      char& byte = block[offset + nibble * 2 + 1];
      byte = static_cast<char>((byte & 15) | (half >> (4 * nibble) & 15) << 4);
    }
  }
}

}  // namespace midscope::kernels
