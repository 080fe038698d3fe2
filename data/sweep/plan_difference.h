// SPDX-License-Identifier: MIT
// Compares the plans of two sweeps and describes the first difference, for error messages.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "data/store/plan_text.h"

namespace midscope {

// Returns a task's text without the folders of its files and the name of its last file, for the
// comparison of tasks whose files have equal contents.
std::string TaskWithoutPaths(std::string task);

// Whether results of a plan differ only in the last digits between CPU instruction sets, which is
// so for matrix products in float32. With products in bfloat16, the mean answer_nll of some samples
// changes by up to 0.8; with products in int8, by up to 3.
template <typename AnyJson>
bool TakesAnyInstructions(const AnyJson& plan) {
  return plan.contains("dtype") && plan.at("dtype") == "float32" && !plan.contains("products");
}

// Returns a plan as it is compared: without paths in the task if the plan has the hash of the
// task's files, and without the CPU instruction set if results do not depend on it.
template <typename AnyJson>
AnyJson ComparablePlan(AnyJson plan) {
  if (plan.is_object() && TakesAnyInstructions(plan)) plan.erase(kInstructionsOfPlan);
  if (!plan.is_object() || !plan.contains("task_files_hash") || !plan.contains("task")) return plan;
  const bool hashed = plan["task_files_hash"].is_string() && plan["task_files_hash"] != "";
  if (hashed && plan["task"].is_string())
    plan["task"] = TaskWithoutPaths(plan["task"].template get<std::string>());
  return plan;
}

// Describes the first difference between a stored plan and the requested one, in the order of the
// stored plan's members: "seed is 1 there, and 2 is asked for"; for lists, the elements that only
// one has: "settings: there without 'pi(1.5)'". Returns "" if they are equal.
std::string FirstPlanDifference(const nlohmann::ordered_json& stored,
                                const nlohmann::ordered_json& asked);
// Applies ComparablePlan to two plans as text and describes their first difference; "" if they are
// equal. If one is not JSON, the returned text says so.
std::string FirstPlanDifference(const std::string& stored, const std::string& asked);

// Returns how to go on if a file holds a sweep of another plan; --add is named only if the plans
// differ in nothing but settings, places and samples, which it can add.
std::string OtherPlanRemedy(const std::string& stored, const std::string& asked);

}  // namespace midscope
