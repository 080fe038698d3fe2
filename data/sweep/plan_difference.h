// SPDX-License-Identifier: MIT
// Describes the difference between two plans.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "data/store/plan_text.h"

namespace midscope {

// Removes from a task's text the folders of its files and the name of its last file. Tasks whose
// files have equal contents are compared by the remaining text.
std::string TaskWithoutPaths(std::string task);

// Whether another CPU instruction set changes only the last digits of results, which holds if
// products are in float32. In bfloat16, the mean answer_nll of some samples changes by up to 0.8;
// with products in int8, by up to 3.
template <typename AnyJson>
bool TakesAnyInstructions(const AnyJson& plan) {
  return plan.contains("dtype") && plan.at("dtype") == "float32" && !plan.contains("products");
}

// Prepares a plan for comparison: removes paths from the task if the plan has the hash of its
// files, and the instruction set if results do not depend on it.
template <typename AnyJson>
AnyJson ComparablePlan(AnyJson plan) {
  if (plan.is_object() && TakesAnyInstructions(plan)) plan.erase(kInstructionsOfPlan);
  if (!plan.is_object() || !plan.contains("task_files_hash") || !plan.contains("task")) return plan;
  const bool hashed = plan["task_files_hash"].is_string() && plan["task_files_hash"] != "";
  if (hashed && plan["task"].is_string())
    plan["task"] = TaskWithoutPaths(plan["task"].template get<std::string>());
  return plan;
}

// Describes the first difference between a stored plan and the requested one, in the member order
// of the stored one: "seed is 1 there, and 2 is asked for"; for lists, the elements that only one
// has: "settings: there without 'pi(1.5)'". Returns "" if they are equal.
std::string FirstPlanDifference(const nlohmann::ordered_json& stored,
                                const nlohmann::ordered_json& asked);
// As above, for plans as text, which ComparablePlan prepares. If one is not JSON, describes that.
std::string FirstPlanDifference(const std::string& stored, const std::string& asked);

// Returns how to go on if a file holds a sweep of another plan; --add is named only if the plans
// differ in nothing but settings, places and samples, which it can add.
std::string OtherPlanRemedy(const std::string& stored, const std::string& asked);

}  // namespace midscope
