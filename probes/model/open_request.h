// SPDX-License-Identifier: MIT
// A request to open a model, as plain values.
#pragma once

#include <string>

namespace midscope {

// The dtype of a request that takes the fastest one, and the products of one that takes them with
// it (core/decoder/arithmetic_choice.h).
inline constexpr const char* kAutoDtype = "auto";
inline constexpr const char* kAutoProducts = "auto";

struct OpenRequest {
  std::string model = "embedded";  // see Decoder::Open
  std::string dtype = "float32";   // "bfloat16", "auto"
  std::string products = "float";  // "int16", "int8", "auto"
  int threads = 0;
  std::string weights = "auto";  // "stored", "expanded"
  std::string device = "cpu";    // core/compute/placement.h
  bool sliding_window = true;    // DecoderOptions::sliding_window
  bool beyond_context = false;   // DecoderOptions::beyond_context
};

}  // namespace midscope
