// SPDX-License-Identifier: MIT
// The values of the engine protocol: MessagePack on the wire, JSON values with binaries in memory.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "probes/serve/frames.h"

namespace midscope {

// A map, list, text, number, boolean, null or binary.
using Message = nlohmann::json;

// Maximum nesting of maps and lists in a message.
inline constexpr size_t kDeepestMessage = 32;

// Returns the message as MessagePack. Throws std::logic_error for discarded values.
std::string PackMessage(const Message& message);
// Returns the message as a frame of MessagePack. The frame owns the message and refers to its large
// binaries and texts instead of copying them.
Frame PackFrame(Message message);

// Parses `bytes`, which must be exactly one MessagePack value. Memory is linear in the number of
// bytes, whatever lengths they state; nesting needs no recursion. Throws Error (failure) if the
// bytes are damaged, cut off or followed by others, a text is not UTF-8, a key is not a text or
// occurs twice, an extension type is used, or the nesting exceeds kDeepestMessage.
Message UnpackMessage(std::string_view bytes);

// Returns {thing, reason, remedy, usage} of an error, with device_lost (boolean) for a DeviceError.
Message ErrorMessage(const Error& error);

}  // namespace midscope
