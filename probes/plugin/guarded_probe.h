// SPDX-License-Identifier: MIT
// A plugin's probe with a guard around it: what goes wrong in it is told under the plugin's name.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "probes/base/probe.h"

namespace midscope {

// Where a plugin comes from.
struct PluginOrigin {
  std::string file;  // its name, without folders
  std::string hash;  // XXH3-128 of its bytes
};

// Runs code of a plugin. Cancelled and std::bad_alloc pass; an Error passes with the plugin's name
// before it; whatever else is thrown becomes an Error (failure) that says that `doing` ("making
// probe 'x'") threw.
void RunInPlugin(const std::string& plugin, const std::string& doing,
                 const std::function<void()>& work);

// The type with its functions, its probes and their hooks run that way. A record that comes out is
// checked: its name is the type's, it holds together, it can be stored, and none of its arrays
// takes a name that stands once in every file of `midscope probe`. It gets the attributes plugin
// and plugin_hash.
ProbeType GuardedProbeType(ProbeType type, const PluginOrigin& origin);

}  // namespace midscope
