// SPDX-License-Identifier: MIT
// The embedded model, opened once per test program. If it is missing, the test fails; it is not
// skipped.
#pragma once

#include <memory>

#include "core/decoder/decoder.h"

namespace midscope::testing {

inline std::shared_ptr<const Decoder> EmbeddedModel() {
  static const std::shared_ptr<const Decoder> decoder = Decoder::Open("embedded", {});
  return decoder;
}

}  // namespace midscope::testing
