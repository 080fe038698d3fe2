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
  std::string file;  // file name, without folders
  std::string hash;  // XXH3-128 of the file
};

// Runs code of a plugin. Exceptions Cancelled and std::bad_alloc are passed on; Error is rethrown
// with the plugin's name in front; any other exception becomes an Error (failure) that names
// `doing` ("making probe 'x'").
void RunInPlugin(const std::string& plugin, const std::string& doing,
                 const std::function<void()>& work);

// Returns the type with its functions, probes and hooks wrapped. They check the probe's records: a
// record must have the type's name, be consistent and storable, and have no array with a name that
// is reserved in files of `midscope probe`. They also add the attributes plugin and plugin_hash.
ProbeType GuardedProbeType(ProbeType type, const PluginOrigin& origin);

}  // namespace midscope
