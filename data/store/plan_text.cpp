// SPDX-License-Identifier: MIT
#include "data/store/plan_text.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json_depth.h"

namespace midscope {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kLongestPlan = size_t{16} << 20;
constexpr int64_t kMostSamples = int64_t{1} << 40;
constexpr const char* kSettings = "settings";

nlohmann::json WithoutWhatMayDiffer(const std::string& plan_json) {
  nlohmann::json plan = nlohmann::json::parse(plan_json, nullptr, /*allow_exceptions=*/false);
  if (!plan.is_object()) return nullptr;
  plan.erase(kSamplesOfPlan);
  plan.erase(kSettings);
  plan.erase(kInstructionsOfPlan);
  return plan;
}

}  // namespace

void CheckJsonText(const std::string& file, const std::string& what, const std::string& text) {
  if (text.size() > kLongestPlan) {
    throw Failure(file, fmt::format("its {} is {} bytes long", what, text.size()),
                  "The file is damaged");
  }
  if (!JsonNestsWithin(text)) {
    throw Failure(file, fmt::format("its {} nests deeper than {} levels", what, kDeepestJson),
                  "The file is damaged");
  }
}

OrderedJson ParsePlan(const std::string& file, const std::string& plan_json) {
  CheckJsonText(file, "plan", plan_json);
  OrderedJson plan = OrderedJson::parse(plan_json, nullptr, /*allow_exceptions=*/false);
  const auto damaged = [&](const std::string& why) {
    return Failure(file, "its plan is damaged: " + why);
  };
  if (!plan.is_object()) throw damaged("it is not a JSON object");
  if (const auto samples = plan.find(kSamplesOfPlan); samples != plan.end()) {
    const bool counted = samples->is_number_integer() && samples->get<int64_t>() >= 0 &&
                         samples->get<int64_t>() <= kMostSamples;
    if (!counted) throw damaged("its number of samples is invalid");
  }
  if (const auto settings = plan.find(kSettings); settings != plan.end()) {
    if (!settings->is_array()) throw damaged("its settings are not a list");
  }
  return plan;
}

bool AreOfOneRun(const std::string& plan_json, const std::string& other_plan_json) {
  const nlohmann::json plan = WithoutWhatMayDiffer(plan_json);
  return !plan.is_null() && plan == WithoutWhatMayDiffer(other_plan_json);
}

}  // namespace midscope
