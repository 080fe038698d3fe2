// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "core/base/environment.h"

namespace midscope {

// The folder of what can be fetched or measured again: $XDG_CACHE_HOME/midscope, else
// ~/.cache/midscope. It need not exist.
inline std::filesystem::path CacheFolder() {
  const std::string cache = Environment("XDG_CACHE_HOME");
  const std::filesystem::path folder = cache.empty()
                                           ? std::filesystem::path(Environment("HOME")) / ".cache"
                                           : std::filesystem::path(cache);
  return folder / "midscope";
}

}  // namespace midscope
