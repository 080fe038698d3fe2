// SPDX-License-Identifier: MIT
// Finds and loads libraries that bring probes (plugin.h).
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/plugin/probe_registry.h"

namespace midscope {

// The folders whose libraries are always loaded, separated by colons.
inline constexpr char kPluginPathVariable[] = "MIDSCOPE_PLUGIN_PATH";

// --plugin, which may be given more than once.
OptionDescription PluginOption();

// Loads the library and adds its probes to `registry`, guarded (guarded_probe.h); it stays loaded
// until the process ends. Throws Error, and leaves the registry as it was: there is no such file;
// it is no library, or one that lacks something; it is no plugin, or one for another version or
// compiler; a probe's name is taken or not allowed; its registration throws.
void LoadPlugin(const std::string& file, ProbeRegistry& registry);

// Every .so file of the folders of `path` (as kPluginPathVariable holds them), folder after folder,
// in the order of their names. Throws Error for a folder that is not there.
std::vector<std::string> PluginsOnPath(const std::string& path);

// The probes that come with Midscope, those of the libraries on kPluginPathVariable, and those of
// the libraries named, in this order; a library that stands there twice is loaded once. Throws
// Error.
ProbeRegistry ProbesWithPlugins(const std::vector<std::string>& named);

}  // namespace midscope
