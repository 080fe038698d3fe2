// SPDX-License-Identifier: MIT
#include "data/sweep/plan_difference.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include <fmt/format.h>

#include "core/base/utf8.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kShownCharacters = 80;

std::string Shown(const Json& value) {
  const std::string text = value.is_string()
                               ? value.get<std::string>()
                               : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Quote(text, kShownCharacters);
}

// Lists at most three elements of the JSON list `all` that the list `other` lacks, for messages.
std::string Lacking(const Json& all, const Json& other) {
  constexpr size_t kMost = 3;
  std::string text;
  size_t count = 0;
  for (const Json& item : all) {
    if (std::find(other.begin(), other.end(), item) != other.end()) continue;
    if (++count <= kMost) text += (text.empty() ? "" : ", ") + Shown(item);
  }
  if (count > kMost) text += fmt::format(" and {} more", count - kMost);
  return text;
}

std::string ListDifference(const std::string& name, const Json& stored, const Json& asked) {
  const std::string missing = Lacking(asked, stored);
  const std::string left_out = Lacking(stored, asked);
  std::string text = name + ": ";
  if (!missing.empty()) text += "there without " + missing;
  if (!left_out.empty()) text += (missing.empty() ? "" : ", and ") + ("there with " + left_out);
  if (missing.empty() && left_out.empty()) text += "they are there in another order";
  return text;
}

}  // namespace

std::string TaskWithoutPaths(std::string task) {
  // Cuts the path of `file`, the last parameter, at the end of the text; other paths end at a
  // comma.
  for (const char* before : {":file=", ",file="}) {
    if (const size_t file = task.find(before); file != std::string::npos) task.resize(file + 6);
  }
  for (size_t slash = 0; (slash = task.find('/')) != std::string::npos;) {
    const size_t begin = task.rfind('=', slash);
    if (begin == std::string::npos) break;
    task.erase(begin + 1, slash - begin);
  }
  return task;
}

std::string FirstPlanDifference(const Json& stored, const Json& asked) {
  if (!stored.is_object() || !asked.is_object()) {
    return stored == asked ? "" : "it is not a plan of this kind";
  }
  for (const auto& [name, value] : stored.items()) {
    if (!asked.contains(name)) return name + " is " + Shown(value) + " there, but is not requested";
    const Json& other = asked.at(name);
    if (value == other) continue;
    if (value.is_array() && other.is_array()) return ListDifference(name, value, other);
    if (value.is_object() && other.is_object()) {
      const std::string inner = FirstPlanDifference(value, other);
      if (!inner.empty()) return std::string(name).append(": ").append(inner);
      continue;
    }
    return name + " is " + Shown(value) + " there, but " + Shown(other) + " is requested";
  }
  for (const auto& [name, value] : asked.items()) {
    if (!stored.contains(name))
      return name + " is not set there, but " + Shown(value) + " is requested";
  }
  return "";
}

std::string FirstPlanDifference(const std::string& stored, const std::string& asked) {
  const Json there = Json::parse(stored, nullptr, /*allow_exceptions=*/false);
  const Json here = Json::parse(asked, nullptr, /*allow_exceptions=*/false);
  if (!there.is_object() || !here.is_object()) return "it is not a plan of this kind";
  Json stored_plan = ComparablePlan(there);
  Json asked_plan = ComparablePlan(here);
  if (stored_plan.value("task", Json()) != asked_plan.value("task", Json())) {
    // With the names of their files.
    stored_plan["task"] = there.value("task", Json());
    asked_plan["task"] = here.value("task", Json());
  }
  return FirstPlanDifference(stored_plan, asked_plan);
}

std::string OtherPlanRemedy(const std::string& stored, const std::string& asked) {
  const auto without_growing = [](const std::string& text) {
    Json plan = ComparablePlan(Json::parse(text, nullptr, /*allow_exceptions=*/false));
    for (const char* name : {"settings", "places", "samples"}) {
      if (plan.is_object()) plan.erase(name);
    }
    return plan;
  };
  const bool growing = without_growing(stored) == without_growing(asked);
  return std::string("Resume with that plan, ") +
         (growing ? "add settings, places or samples to it (--add), " : "") +
         "or write to another file";
}

}  // namespace midscope
