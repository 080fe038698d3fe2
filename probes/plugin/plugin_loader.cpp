// SPDX-License-Identifier: MIT
#include "probes/plugin/plugin_loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "core/base/parameter.h"
#include "core/base/record_names.h"
#include "probes/plugin/guarded_probe.h"
#include "probes/plugin/plugin.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr char kRebuild[] = "Build it again with the headers of this Midscope";
// Names of Midscope's records that no probe makes, and of a group in every file.
constexpr std::string_view kReservedNames[] = {kPromptRecord,   kAnswerRecord, kOutcomeRecord,
                                               "outcome_means", "provenance",  "sweep"};

bool IsIdentifier(std::string_view name, char separator) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == separator;
  });
}

// Opens the library with RTLD_NOW, so that missing symbols are reported here and not when they are
// called.
void* Open(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw UsageError("plugin " + file, "the file does not exist",
                     "Give the path of the library, such as ./libmine.so");
  }
  if (!fs::is_regular_file(file, ignored)) {
    throw UsageError(
        "plugin " + file, "it is not a file",
        std::string("--plugin takes a library; folders go into ") + kPluginPathVariable);
  }
  // Absolute path, because a name without a slash would be searched in the system's library
  // folders.
  void* library = ::dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  const char* why = ::dlerror();
  throw Failure("plugin " + file,
                std::string("it cannot be loaded as a library: ") + (why ? why : "no reason given"),
                "PLUGINS.md has the steps to build one");
}

const PluginManifest& ReadManifest(void* library, const std::string& name) {
  const auto* manifest = static_cast<const PluginManifest*>(::dlsym(library, kPluginSymbol));
  if (!manifest) {
    throw Failure(name,
                  std::string("it is a library but no plugin: it does not export ") + kPluginSymbol,
                  "A plugin has MIDSCOPE_PLUGIN(...) in it once");
  }
  if (manifest->version != kPluginVersion) {
    throw Failure(name,
                  fmt::format("it is made for plugin version {}, this Midscope has version {}",
                              manifest->version, kPluginVersion),
                  kRebuild);
  }
  const std::string_view abi = manifest->abi ? manifest->abi : "";
  if (abi != kPluginAbi) {
    throw Failure(
        name,
        "it is compiled for '" + std::string(abi) + "', this Midscope for '" + kPluginAbi + "'",
        "Build it again with a compiler and flags that fit");
  }
  if (manifest->layout != PluginLayout()) {
    throw Failure(name, "it is built with headers of another Midscope", kRebuild);
  }
  if (!manifest->register_probes) throw Failure(name, "it has no function that registers probes");
  return *manifest;
}

void CheckOptions(const std::string& name, const ProbeType& type) {
  std::string prefix = type.name;
  std::replace(prefix.begin(), prefix.end(), '_', '-');
  const std::string remedy = "It must be --" + prefix + " or begin with --" + prefix + "-";
  for (const Parameter& option : type.options) {
    const bool own = option.name == prefix || option.name.starts_with(prefix + "-");
    if (!own || !IsIdentifier(option.name, '-')) {
      throw Failure(name,
                    "option '" + option.name + "' of probe '" + type.name + "' has an invalid name",
                    remedy);
    }
    if (option.required) {
      throw Failure(name, "option --" + option.name + " must be given, which a probe may not ask",
                    "Give it a default, or let ProbeType::wanted decide when the probe runs");
    }
  }
  RunInPlugin(name.substr(name.find(' ') + 1), "describing options of probe '" + type.name + "'",
              [&] { OptionSet checked(type.options); });
}

void CheckType(const std::string& name, const ProbeType& type, const ProbeRegistry& registry) {
  const std::string probe = "probe '" + type.name + "'";
  if (!IsIdentifier(type.name, '_')) {
    throw Failure(name, probe + " has an invalid name",
                  "Names are of a-z, 0-9 and _, and begin with a letter");
  }
  if (std::find(std::begin(kReservedNames), std::end(kReservedNames), type.name) !=
      std::end(kReservedNames)) {
    throw Failure(name, "'" + type.name + "' is the name of a record of Midscope's own",
                  "Give the probe another name");
  }
  for (const ProbeType& known : registry.types()) {
    if (known.name != type.name) continue;
    throw Failure(
        name,
        "there is a " + probe + " already, " +
            (known.plugin.empty() ? "which comes with Midscope" : "of plugin " + known.plugin),
        "Load one of them, or give this one another name");
  }
  if (!type.make) throw Failure(name, probe + " has no make function");
  CheckOptions(name, type);
}

}  // namespace

Parameter PluginOption() {
  return TextListParameter(
      "plugin", std::string("a library with probes of your own; may be given more than once. ") +
                    kPluginPathVariable + " names folders whose libraries are always loaded");
}

void LoadPlugin(const std::string& file, ProbeRegistry& registry) {
  void* library = Open(file);
  const PluginOrigin origin{fs::path(file).filename().string(), HashFile(file)};
  const std::string name = "plugin " + file;
  const PluginManifest& manifest = ReadManifest(library, name);
  ProbeRegistry own;
  RunInPlugin(file, "registering its probes", [&] { manifest.register_probes(own); });
  if (own.types().empty()) throw Failure(name, "it registers no probe");
  ProbeRegistry all = registry;
  for (const ProbeType& type : own.types()) {
    CheckType(name, type, all);
    all.Add(GuardedProbeType(type, origin));
  }
  registry = std::move(all);
}

std::vector<std::string> PluginsOnPath(const std::string& path) {
  std::vector<std::string> files;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    if (folder.empty()) continue;
    std::error_code error;
    std::set<std::string> found;
    for (fs::directory_iterator entry(folder, error), last; !error && entry != last;
         entry.increment(error)) {
      if (entry->path().extension() == ".so") found.insert(entry->path().string());
    }
    if (error) {
      throw UsageError(std::string(kPluginPathVariable) + " folder " + folder,
                       "it cannot be read: " + error.message(),
                       "Make it, or remove it from the list");
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

ProbeRegistry ProbesWithPlugins(const std::vector<std::string>& named) {
  const char* path = std::getenv(kPluginPathVariable);
  std::vector<std::string> files = PluginsOnPath(path ? path : "");
  files.insert(files.end(), named.begin(), named.end());
  ProbeRegistry registry = BuiltInProbes();
  std::set<std::string> loaded;
  for (const std::string& file : files) {
    std::error_code error;
    const fs::path whole = fs::canonical(file, error);
    if (!error && !loaded.insert(whole.string()).second) continue;
    LoadPlugin(file, registry);
  }
  return registry;
}

}  // namespace midscope
