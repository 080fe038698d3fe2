// SPDX-License-Identifier: MIT
#pragma once

#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace midscope {

// Returns the value of an environment variable; empty if it is not set.
inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Returns the limit on the process' memory that a batch system or `ulimit -v` sets, worded as the
// end of a message: "; ulimit -v lets this process have 420 MB in all". Returns "" if there is no
// limit.
inline std::string MemoryLimitText() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return "; ulimit -v lets this process have " + std::to_string(limit.rlim_cur / 1'000'000) +
         " MB in all";
}

// Returns the user's home folder: $HOME; if unset, as in some services and containers, the entry in
// the system's user list; "/" if neither exists, so that no path depends on the current folder.
inline std::filesystem::path HomeFolder() {
  std::filesystem::path home = Environment("HOME");
  if (home.is_absolute()) return home;
  const passwd* user = getpwuid(getuid());
  const std::filesystem::path known = user != nullptr && user->pw_dir ? user->pw_dir : "";
  return known.is_absolute() ? known : "/";
}

// Returns $XDG_CACHE_HOME, or ~/.cache if that is not set.
inline std::filesystem::path UserCacheFolder() {
  const std::filesystem::path cache = Environment("XDG_CACHE_HOME");
  return cache.is_absolute() ? cache : HomeFolder() / ".cache";
}

// Returns the folder for data that can be fetched or measured again: $XDG_CACHE_HOME/midscope, else
// ~/.cache/midscope. It may not exist yet.
inline std::filesystem::path CacheFolder() { return UserCacheFolder() / "midscope"; }

}  // namespace midscope
