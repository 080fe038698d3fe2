// SPDX-License-Identifier: MIT
// The embedded model, opened once a test program. Fails, and does not skip, where it is absent.
#pragma once

#include <memory>

#include "core/decoder/decoder.h"

namespace midscope::testing {

inline std::shared_ptr<const Decoder> EmbeddedModel() {
  static const std::shared_ptr<const Decoder> decoder = Decoder::Open("embedded", {});
  return decoder;
}

}  // namespace midscope::testing
