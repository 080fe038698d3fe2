// SPDX-License-Identifier: MIT
// Parses a sweep's plan from a file, whose text may be anything. Internal to data/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace midscope {

// The member of a sweep's plan with its number of samples, which may grow.
inline constexpr const char* kSamplesOfPlan = "samples";
// That with the CPU's instructions that the kernels used (kernels/instruction_set.h).
inline constexpr const char* kInstructionsOfPlan = "instructions";

// Throws Error (failure) that names the file if the text is longer, or nests deeper, than a plan.
// `what`: "plan". Texts that pass may be parsed, compared and printed; they may still not be JSON.
void CheckJsonText(const std::string& file, const std::string& what, const std::string& text);

// The plan as an object, its keys in their order. Throws Error (failure) that names the file if it
// is not an object, or its number of samples or its settings have the wrong type.
nlohmann::ordered_json ParsePlan(const std::string& file, const std::string& plan_json);

// Whether two plans are of one run: they differ only in samples, settings and instructions. Which
// instructions go together is decided where files are joined (plan_difference.h).
bool AreOfOneRun(const std::string& plan_json, const std::string& other_plan_json);

}  // namespace midscope
