// SPDX-License-Identifier: MIT
// Parses a sweep's plan (JSON: task, settings, samples, ...) from a file; safe for any text.
// Internal to data/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace midscope {

// Key in a sweep's plan for its number of samples, which may grow.
inline constexpr const char* kSamplesOfPlan = "samples";
// Key in a sweep's plan for the seeds of joined sweeps; absent if there is one seed.
inline constexpr const char* kSeedsOfPlan = "seeds";
// Keys in a sweep's plan for the hash of the task's files and, if lines can be appended to the
// task's file (GrowingFileBytes), the file's size.
inline constexpr const char* kTaskFilesHash = "task_files_hash";
inline constexpr const char* kTaskFileBytes = "task_file_bytes";
// Key in a sweep's plan for the CPU instruction set that the kernels used
// (kernels/instruction_set.h).
inline constexpr const char* kInstructionsOfPlan = "instructions";

// Throws Error (failure), which names the file, if a text is longer or more deeply nested than any
// plan. `what`: name of the text in errors, "plan". Text that passes is safe to parse, compare and
// print, but may still not be JSON.
void CheckJsonText(const std::string& file, const std::string& what, const std::string& text);

// Returns a plan's text as a JSON object that keeps the order of keys. Throws Error (failure),
// which names the file, if the text is not a JSON object, or if the number of samples or the
// settings have the wrong type.
nlohmann::ordered_json ParsePlan(const std::string& file, const std::string& plan_json);

// Whether two plans belong to one run: they differ at most in samples, settings and instructions.
// Which instruction sets can be combined is checked when files are joined (plan_difference.h).
bool AreOfOneRun(const std::string& plan_json, const std::string& other_plan_json);

}  // namespace midscope
