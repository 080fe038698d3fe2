// SPDX-License-Identifier: MIT
// The page about the engine protocol, made from the list of methods.
#pragma once

#include <string>

namespace midscope {

// Returns PROTOCOL.md: frames, messages, every method with its parameters and result, and an
// exchange in hexadecimal digits and JSON.
std::string ProtocolPage();

}  // namespace midscope
