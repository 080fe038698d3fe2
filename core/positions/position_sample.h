// SPDX-License-Identifier: MIT
// One sequence that a sampler made: which tokens of a document it holds, and which position ids
// they get.
#pragma once

#include <cstdint>
#include <vector>

namespace midscope {

// Both [token], of the same length. position_id increases strictly. token_index does too, but for
// CREAM where the middle segment reaches into the tail of a short document, as in its public code.
struct PositionSample {
  std::vector<int64_t> token_index;  // index of the token in its document
  std::vector<int64_t> position_id;  // from 0 to PositionRequest::context - 1
  bool operator==(const PositionSample&) const = default;
};

}  // namespace midscope
