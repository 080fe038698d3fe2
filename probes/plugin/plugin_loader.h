// SPDX-License-Identifier: MIT
// Finds and loads libraries with probes (plugin.h).
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/plugin/probe_registry.h"

namespace midscope {

// Environment variable with folders, separated by colons, whose libraries are always loaded.
inline constexpr char kPluginPathVariable[] = "MIDSCOPE_PLUGIN_PATH";

// Returns the option --plugin, which can be given more than once.
Parameter PluginOption();

// Loads the library and adds its probes, wrapped (guarded_probe.h), to `registry`. The library is
// never unloaded. Throws Error, and leaves the registry unchanged, if the file does not exist, is
// not a library or lacks a symbol; is not a plugin, or one for another version or compiler; has a
// probe whose name is taken or not allowed; or if its registration throws.
void LoadPlugin(const std::string& file, ProbeRegistry& registry);

// Returns every .so file of the folders in `path` (the value of kPluginPathVariable), folder by
// folder, ordered by name. Throws Error if a folder does not exist.
std::vector<std::string> PluginsOnPath(const std::string& path);

// Returns the built-in probes, those of the libraries in kPluginPathVariable, and those of the
// named libraries, in this order; loads every library only once. Throws Error.
ProbeRegistry ProbesWithPlugins(const std::vector<std::string>& named);

}  // namespace midscope
