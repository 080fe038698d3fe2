// SPDX-License-Identifier: MIT
// A plugin that must not be loaded, for the reason that MIDSCOPE_TEST_HOSTILE names.
#include <cstdlib>

#include "probes/plugin/plugin.h"

namespace {

using midscope::ProbeRegistry;
using midscope::ProbeType;

std::string Hostile() {
  const char* chosen = std::getenv("MIDSCOPE_TEST_HOSTILE");
  return chosen ? chosen : "";
}

std::string Name(const std::string& hostile) {
  if (hostile == "taken name") return "last_logits";
  if (hostile == "reserved name") return "provenance";
  if (hostile == "misnamed") return "Mine/2";
  if (hostile == "command's option") return "prompt_file";
  return "hostile";
}

void Register(ProbeRegistry& probes) {
  const std::string hostile = Hostile();
  if (hostile == "nothing") return;
  if (hostile == "throws") throw std::string("not even an exception");
  ProbeType type;
  type.name = Name(hostile);
  if (hostile != "no make") {
    type.make = [](const midscope::ProbeInput&) { return std::unique_ptr<midscope::Probe>(); };
  }
  midscope::Parameter option;
  option.name = hostile == "option's name"      ? "mine"
                : hostile == "command's option" ? "prompt-file"
                                                : "hostile-level";
  option.required = hostile == "required";
  if (hostile == "default") option.default_value = 1.5;  // default of an option that takes text
  if (Name(hostile) == "hostile" || hostile == "command's option") type.options = {option};
  probes.Add(type);
  if (hostile == "twice") probes.Add(type);
}

midscope::PluginManifest Manifest() {
  midscope::PluginManifest manifest = {midscope::kPluginVersion, midscope::kPluginAbi,
                                       midscope::PluginLayout(), Register};
  const std::string hostile = Hostile();
  if (hostile == "version") ++manifest.version;
  if (hostile == "abi") manifest.abi = "Watcom C++";
  if (hostile == "layout") ++manifest.layout;
  if (hostile == "no function") manifest.register_probes = nullptr;
  return manifest;
}

}  // namespace

extern "C" {
extern const midscope::PluginManifest midscope_plugin_manifest;
const midscope::PluginManifest midscope_plugin_manifest = Manifest();
}
