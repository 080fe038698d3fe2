// SPDX-License-Identifier: MIT
// How the weights in a model's folder were tuned. This cannot be read from the weights: whoever
// tuned them writes midscope_recipe.json beside config.json; a sweep's plan and file include it.
// Also the names of the other files of `midscope tune`, which the window reads, too.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace midscope {

inline constexpr const char* kRecipeFile = "midscope_recipe.json";
inline constexpr const char* kTuningFile = "tuning.h5";                     // losses and rates
inline constexpr const char* kTuningPlan = "midscope_tuning.json";          // what was requested
inline constexpr const char* kTuningState = "midscope_tuning.safetensors";  // the checkpoint
inline constexpr const char* kTuningRecord = "tuning";                      // in kTuningFile

// Whether a folder has the result of a complete run. `has`: whether it has a file of this name.
bool IsTuned(const std::function<bool(const char* file)>& has);

// Fields and their values: "method" ("cream", "pose", "randpos", "full"; must be given),
// "interpolation" ("linear", "ntk", "yarn", ...), "context" (the length tuned for, "32768"), and
// any others that the user adds.
using TuningRecipe = std::map<std::string, std::string>;

// Parses a JSON object of strings and integers, which are kept as strings in lower case. "" gives
// no fields. Throws Error (failure), which names `thing`, for any other text and for an object
// without "method".
TuningRecipe ParseTuningRecipe(const std::string& text, const std::string& thing);

// Reads the recipe from a model's folder; returns no fields if `model` is a file, or a folder
// without kRecipeFile. Throws in the same cases as ParseTuningRecipe, and Error (failure) if the
// file cannot be read or exceeds 64 KiB.
TuningRecipe ReadTuningRecipe(const std::string& model);

// As ReadTuningRecipe, of a model's text (model_text.h): the adapter's if it has one.
TuningRecipe RecipeOfModel(const std::string& model);

// Returns "cream, interpolation=linear, context=32768"; "no tuning" if it has no fields.
std::string TuningRecipeText(const TuningRecipe& recipe);

// Whether a run's recipe matches a published one: it is equal in every field that the published one
// states. A recipe without fields matches only one without fields.
bool IsOfRecipe(const TuningRecipe& run, const TuningRecipe& published);

}  // namespace midscope
