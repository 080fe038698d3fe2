// SPDX-License-Identifier: MIT
// The embedded model, opened once per test program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"

namespace midscope::testing {

inline std::shared_ptr<const Decoder> EmbeddedDecoder(
    kernels::Dtype dtype = kernels::Dtype::kFloat32) {
  static std::shared_ptr<const Decoder> decoders[2];
  auto& decoder = decoders[dtype == kernels::Dtype::kFloat32 ? 0 : 1];
  if (!decoder) decoder = Decoder::Open("embedded", {dtype, 0});
  return decoder;
}

// `tokens` tokens of varied text, determined by `seed`.
inline std::vector<int32_t> SomeIds(const Decoder& decoder, int64_t tokens, uint64_t seed = 1) {
  std::vector<int32_t> ids;
  uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  while (static_cast<int64_t>(ids.size()) < tokens) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    // Ids from 300 on are words or parts of words.
    ids.push_back(static_cast<int32_t>(
        300 + (state >> 33) % static_cast<uint64_t>(decoder.config().vocabulary - 300)));
  }
  return ids;
}

}  // namespace midscope::testing
