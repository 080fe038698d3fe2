// SPDX-License-Identifier: MIT
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/environment.h"

namespace midscope {

// The user's home: $HOME, else that of the system's list of users, as in services and containers
// without the variable; "/" where neither names one, so that no path depends on the current folder.
inline std::filesystem::path HomeFolder() {
  std::filesystem::path home = Environment("HOME");
  if (home.is_absolute()) return home;
  const passwd* user = getpwuid(getuid());
  const std::filesystem::path known = user != nullptr && user->pw_dir ? user->pw_dir : "";
  return known.is_absolute() ? known : "/";
}

// $XDG_CACHE_HOME, else ~/.cache.
inline std::filesystem::path UserCacheFolder() {
  const std::filesystem::path cache = Environment("XDG_CACHE_HOME");
  return cache.is_absolute() ? cache : HomeFolder() / ".cache";
}

// The folder of what can be fetched or measured again: $XDG_CACHE_HOME/midscope, else
// ~/.cache/midscope. It need not exist.
inline std::filesystem::path CacheFolder() { return UserCacheFolder() / "midscope"; }

}  // namespace midscope
