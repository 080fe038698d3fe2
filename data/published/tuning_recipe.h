// SPDX-License-Identifier: MIT
// How the weights of a model's folder were tuned. Weights don't tell: whoever tuned them writes
// midscope_recipe.json beside config.json, and a sweep's plan and file state it.
#pragma once

#include <map>
#include <string>

namespace midscope {

inline constexpr const char* kRecipeFile = "midscope_recipe.json";

// Field to value: "method" ("cream", "pose", "randpos", "full"; must be given), "interpolation"
// ("linear", "ntk", "yarn", ...), "context" (the length tuned for, "32768"), and others of the
// user's.
using TuningRecipe = std::map<std::string, std::string>;

// A JSON object of strings and integers, which are kept as strings in lower case. "" has no fields.
// Throws Error (failure), which names `thing`, for anything else and for
// one without a method.
TuningRecipe ParseTuningRecipe(const std::string& text, const std::string& thing);

// The recipe of a model's folder; no fields where `model` is a file, or a folder without
// kRecipeFile. Throws in the same cases as ParseTuningRecipe, and Error (failure) for a file that
// cannot be read or has more than 64 KiB.
TuningRecipe ReadTuningRecipe(const std::string& model);

// As JSON, for results files.
std::string TuningRecipeJson(const TuningRecipe& recipe);

// "cream, interpolation=linear, context=32768"; "no tuning" for one without fields.
std::string TuningRecipeText(const TuningRecipe& recipe);

// Whether a run's model is of the published recipe: equal in every field that the published one
// states. One without fields only matches one without fields.
bool IsOfRecipe(const TuningRecipe& run, const TuningRecipe& published);

}  // namespace midscope
