// SPDX-License-Identifier: MIT
// The plan of a sweep as its file holds it, taken apart with care: a file may hold anything.
// Internal to data/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace midscope {

// The member of a sweep's plan that says how many samples it has, which may grow.
inline constexpr const char* kSamplesOfPlan = "samples";

// Throws Error (failure) that names the file where the text is longer, or nests deeper, than a plan
// does. `what`: "plan". Texts that pass may be parsed, compared and printed; they need not be JSON.
void CheckJsonText(const std::string& file, const std::string& what, const std::string& text);

// The plan as an object, its keys in their order. Throws Error (failure) that names the file where
// it is none, or its number of samples or its settings are of another type than plans have.
nlohmann::ordered_json ParsePlan(const std::string& file, const std::string& plan_json);

// Whether two plans are of one run: they differ in samples and settings alone.
bool AreOfOneRun(const std::string& plan_json, const std::string& other_plan_json);

}  // namespace midscope
