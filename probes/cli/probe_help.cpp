// SPDX-License-Identifier: MIT
#include "probes/cli/probe_help.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "probes/cli/paragraph.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// "    label: text".
std::string Labelled(const std::string& label, const std::string& text) {
  return Paragraph("    " + label + (label.empty() ? "" : ": "), text, 6);
}

std::string When(const ProbeType& type) {
  if (type.wanted) return "with --" + type.options.front().name;
  return type.on_request ? "with --probes " + type.name : "unasked";
}

}  // namespace

std::string ProbeHelp(const ProbeRegistry& probes) {
  std::string text;
  for (const ProbeType& type : probes.types()) {
    text += (text.empty() ? "" : "\n") + fmt::format("  {}    (runs {})\n", type.name, When(type));
    text += Labelled("", type.summary);
    text += Labelled("from", type.source);
    text += Labelled("plugin", type.plugin);
    text += Labelled("public code", type.departures);
    text += Labelled("limits", type.limits);
    std::string options;
    for (const Parameter& option : type.options) {
      options += (options.empty() ? "--" : " --") + option.name;
    }
    text += Labelled("options", options);
  }
  return text;
}

std::string ProbeListJson(const ProbeRegistry& probes) {
  Json list = Json::array();
  for (const ProbeType& type : probes.types()) {
    Json options = Json::array();
    for (const Parameter& option : type.options) {
      options.push_back({{"name", option.name},
                         {"help", option.help},
                         {"unit", option.unit},
                         {"allowed", AllowedText(option)},
                         {"default", TextOrNull(ParameterText(option.default_value))}});
    }
    list.push_back({{"name", type.name},
                    {"summary", type.summary},
                    {"source", TextOrNull(type.source)},
                    {"plugin", TextOrNull(type.plugin)},
                    {"options", options}});
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ProbeSummaries(const ProbeRegistry& probes) {
  std::string text;
  for (const ProbeType& type : probes.types()) {
    text += fmt::format("  {:<21} {}\n", type.name, type.summary);
  }
  return text;
}

}  // namespace midscope::cli
