// SPDX-License-Identifier: MIT
// How a model is asked for, in plain values.
#pragma once

#include <string>

namespace midscope {

struct OpenRequest {
  std::string model = "embedded";  // as Decoder::Open
  std::string dtype = "float32";   // or "bfloat16"
  int threads = 0;
  std::string weights = "auto";  // "stored", "expanded"
  std::string device = "cpu";    // core/compute/placement.h
  bool sliding_window = true;    // DecoderOptions::sliding_window
  bool beyond_context = false;   // DecoderOptions::beyond_context
};

}  // namespace midscope
