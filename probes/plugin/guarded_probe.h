// SPDX-License-Identifier: MIT
// Wraps a plugin's probe: its errors are reported with the plugin's name.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "probes/base/probe.h"

namespace midscope {

// The origin of a plugin.
struct PluginOrigin {
  std::string file;  // its name, without folders
  std::string hash;  // XXH3-128 of its bytes
};

// Runs code of a plugin. Cancelled and std::bad_alloc pass; an Error is thrown with the plugin's
// name in front; any other exception becomes an Error (failure) that names `doing` ("making probe
// 'x'").
void RunInPlugin(const std::string& plugin, const std::string& doing,
                 const std::function<void()>& work);

// Returns the type with its functions, probes and hooks wrapped. A record of the probe is checked:
// its name is the type's, it is consistent and can be stored, and none of its arrays has a name
// that is unique in every file of `midscope probe`. It gets the attributes plugin and plugin_hash.
ProbeType GuardedProbeType(ProbeType type, const PluginOrigin& origin);

}  // namespace midscope
