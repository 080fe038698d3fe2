// SPDX-License-Identifier: MIT
// Reads answers of an engine process.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "probes/client/engine_link.h"

namespace midscope {

// Calls `read`, and turns exceptions about damaged members into an Error (failure).
template <typename Function>
auto ReadAnswer(const Function& read) -> decltype(read()) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    throw Failure("engine", std::string("it sent a damaged answer: ") + error.what());
  }
}

// Fetches the bytes that an answer has by their handle, in slices, and releases them.
std::vector<uint8_t> FetchHeld(EngineLink& link, int64_t handle, int64_t bytes);

}  // namespace midscope
