// SPDX-License-Identifier: MIT
#include "probes/client/answers.h"

#include <iterator>

#include "probes/serve/message.h"

namespace midscope {

std::vector<uint8_t> FetchHeld(EngineLink& link, int64_t handle, int64_t bytes) {
  constexpr int64_t kSliceBytes = int64_t{16} << 20;
  std::vector<uint8_t> all;
  all.reserve(static_cast<size_t>(bytes));
  while (std::ssize(all) < bytes) {
    const Message part = link.Call(
        "read_array", {{"handle", handle}, {"begin", std::ssize(all)}, {"count", kSliceBytes}});
    const auto& data = part.at("data").get_binary();
    if (data.empty()) throw Failure("engine", "it sent less than an array's bytes");
    all.insert(all.end(), data.begin(), data.end());
  }
  link.Call("release", {{"handle", handle}});
  return all;
}

}  // namespace midscope
