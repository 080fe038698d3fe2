// SPDX-License-Identifier: MIT
#include "probes/cli/stored_file.h"

#include <algorithm>
#include <filesystem>
#include <type_traits>

#include "core/utf8.h"
#include "data/provenance_fields.h"
#include "data/rank_parts.h"
#include "probes/cli/command.h"

namespace midscope::cli {
namespace {

// A file of midscope channels, whose plan is no sweep's.
bool IsChannelSearch(const RunReader& reader) {
  const std::vector<std::string>& names = reader.record_names();
  return std::find(names.begin(), names.end(), "channel_search") != names.end();
}

// "40 of 40 samples, 2 settings".
std::string SweepText(const RunReader& reader) {
  const auto plan = nlohmann::json::parse(reader.plan_json(), nullptr, false);
  if (!plan.is_object()) return "a plan that cannot be read";
  if (IsChannelSearch(reader)) return "channel search";
  int64_t samples = 0;
  for (const std::string& name : reader.record_names()) {
    const Record frame = reader.Describe(name);
    if (const Axis* axis = frame.FindAxis("sample")) samples = std::max(samples, axis->size);
  }
  std::string text = "sweep, " + std::to_string(samples);
  if (plan.contains("samples")) text += " of " + plan["samples"].dump();
  text += " samples";
  if (plan.contains("settings")) {
    const size_t settings = plan["settings"].size();
    text += ", " + std::to_string(settings) + (settings == 1 ? " setting" : " settings");
  }
  if (plan.contains("task") && plan["task"].is_string()) {
    text += ", " + DisplayText(plan["task"].get<std::string>());
  }
  return text;
}

}  // namespace

OptionDescription SliceOption() {
  return TextListOption(
      "slice",
      "AXIS=PLACES: a part along an axis alone, by label or value: layer=8, key=0-99, place=10, "
      "sample=7, setting=none; may be given once an axis");
}

OptionDescription AddressOption(const std::string& name, const std::string& help) {
  OptionDescription file = OutOption(help);
  file.name = name;
  file.required = true;
  return file;
}

std::string TypeName(const ArrayData& data) {
  return std::visit(
      [](const auto& values) -> std::string {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, float>) return "float32";
        if constexpr (std::is_same_v<T, double>) return "float64";
        if constexpr (std::is_same_v<T, int64_t>) return "int64";
        if constexpr (std::is_same_v<T, uint8_t>) return "boolean";
        if constexpr (std::is_same_v<T, std::string>) return "text";
      },
      data);
}

std::string ShapeText(const Record& record, const Array& array) {
  std::string text;
  for (const std::string& name : array.axes) {
    const Axis* axis = record.FindAxis(name);
    text += text.empty() ? "[" : ", ";
    text.append(name).append(" ").append(std::to_string(axis ? axis->size : 0));
  }
  return text.empty() ? text : text + "]";
}

// Parts of ranks beside the file that it was not written over.
int64_t UnjoinedParts(const RunReader& reader) {
  const std::vector<std::string> joined = reader.parts();
  const std::vector<std::string> all = RankParts(reader.path());
  return std::count_if(all.begin(), all.end(), [&](const std::string& part) {
    const std::string name = std::filesystem::path(part).filename().string();
    return std::find(joined.begin(), joined.end(), name) == joined.end();
  });
}

std::string FileLine(const RunReader& reader) {
  const Provenance& origin = reader.provenance();
  std::string text = DisplayText(reader.path()) + ": ";
  text += reader.plan_json().empty() ? "results" : SweepText(reader);
  const auto add = [&](const std::string& what) {
    if (!what.empty()) text += "; " + DisplayText(what);
  };
  add(origin.model_path);
  add(origin.dtype);
  add(origin.created);
  add(origin.program + " " + origin.version);
  if (const size_t parts = reader.parts().size(); parts > 0) {
    add("virtual, over " + std::to_string(parts) + (parts == 1 ? " file" : " files"));
  }
  std::error_code ignored;
  if (std::filesystem::exists(JournalPath(reader.path()), ignored)) {
    text += "; unfinished: more samples in " + DisplayText(JournalPath(reader.path()));
  }
  if (const int64_t parts = UnjoinedParts(reader); parts > 0)
    text += "; unfinished: " + std::to_string(parts) + " parts of ranks beside it";
  return text;
}

nlohmann::ordered_json ProvenanceJson(const Provenance& provenance) {
  nlohmann::ordered_json json;
  ForEachField(provenance, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (value.empty()) return;
    }
    json[name] = value;
  });
  return json;
}

}  // namespace midscope::cli
