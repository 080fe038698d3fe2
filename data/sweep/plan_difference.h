// SPDX-License-Identifier: MIT
// The difference between two plans as text.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "data/store/plan_text.h"

namespace midscope {

// The task's text without the folders of its files, and without its last file's name: the text by
// which tasks whose files have equal contents are compared.
std::string TaskWithoutPaths(std::string task);

// Whether another instruction set changes no more than the last digits: products in float32. In
// bfloat16 the mean of some samples' answer_nll moves by up to 0.8, with products in int8 by 3.
template <typename AnyJson>
bool TakesAnyInstructions(const AnyJson& plan) {
  return plan.contains("dtype") && plan.at("dtype") == "float32" && !plan.contains("products");
}

// The plan as it is compared: its task without paths, if it has the hash of its files; without
// instructions if any do.
template <typename AnyJson>
AnyJson ComparablePlan(AnyJson plan) {
  if (plan.is_object() && TakesAnyInstructions(plan)) plan.erase(kInstructionsOfPlan);
  if (!plan.is_object() || !plan.contains("task_files_hash") || !plan.contains("task")) return plan;
  const bool hashed = plan["task_files_hash"].is_string() && plan["task_files_hash"] != "";
  if (hashed && plan["task"].is_string())
    plan["task"] = TaskWithoutPaths(plan["task"].template get<std::string>());
  return plan;
}

// The first member in which a stored plan and the requested one differ, in the order of the stored
// one: "seed is 1 there, and 2 is asked for"; for lists the elements that only one has: "settings:
// there without 'pi(1.5)'". "" if they are equal.
std::string FirstPlanDifference(const nlohmann::ordered_json& stored,
                                const nlohmann::ordered_json& asked);
// As above, for plans as text, compared as ComparablePlan. Where one is not JSON, that is the
// difference.
std::string FirstPlanDifference(const std::string& stored, const std::string& asked);

}  // namespace midscope
