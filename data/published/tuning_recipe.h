// SPDX-License-Identifier: MIT
// The recipe of a tuned model: how the weights in the model's folder were fine-tuned. It is read
// from midscope_recipe.json beside config.json, and is included in the plan and results file of a
// sweep. Also declares the names of the other files that `midscope tune` writes.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace midscope {

inline constexpr const char* kRecipeFile = "midscope_recipe.json";
inline constexpr const char* kTuningFile = "tuning.h5";             // losses, learning rates
inline constexpr const char* kTuningPlan = "midscope_tuning.json";  // options of the tuning run
inline constexpr const char* kTuningState = "midscope_tuning.safetensors";  // the checkpoint
inline constexpr const char* kTuningRecord = "tuning";                      // record in kTuningFile

// Whether a folder, in which has(file) is true for existing files, has a complete tuning result.
bool IsTuned(const std::function<bool(const char* file)>& has);

// Fields of a recipe and their values: "method" ("cream", "pose", "randpos", "full"; required),
// "interpolation" ("linear", "ntk", "yarn", ...), "context" (context length in tokens after tuning,
// "32768"), and any fields that the user adds.
using TuningRecipe = std::map<std::string, std::string>;

// Parses a recipe: a JSON object of strings and integers, which are stored as strings in lower
// case. Returns no fields for "". Throws Error (failure), which names `thing`, for any other text
// and for an object without "method".
TuningRecipe ParseTuningRecipe(const std::string& text, const std::string& thing);

// Reads the recipe from a model's folder; returns no fields if `model` is a file, or a folder
// without kRecipeFile. Throws in the same cases as ParseTuningRecipe, and Error (failure) if the
// file cannot be read or exceeds 64 KiB.
TuningRecipe ReadTuningRecipe(const std::string& model);

// Reads the recipe for a user's name of a model (model_text.h), from the adapter's folder if any.
TuningRecipe RecipeOfModel(const std::string& model);

// Returns the recipe as text, "cream, interpolation=linear, context=32768"; if empty, "no tuning".
std::string TuningRecipeText(const TuningRecipe& recipe);

// Whether the recipe of a run matches a published recipe: all fields of the published recipe are
// equal. A published recipe without fields matches only a run's recipe without fields.
bool IsOfRecipe(const TuningRecipe& run, const TuningRecipe& published);

}  // namespace midscope
