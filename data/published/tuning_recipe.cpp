// SPDX-License-Identifier: MIT
#include "data/published/tuning_recipe.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/model/model_text.h"

namespace midscope {
namespace {

constexpr const char* kMethod = "method";
constexpr std::uintmax_t kMostBytes = 1 << 16;

}  // namespace

bool IsTuned(const std::function<bool(const char* file)>& has) {
  return has(kRecipeFile) && !has(kTuningState);
}

TuningRecipe ParseTuningRecipe(const std::string& text, const std::string& thing) {
  if (text.empty()) return {};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Failure(thing, "it must be a JSON object");
  TuningRecipe recipe;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string() && !value.is_number_integer()) {
      throw Failure(thing, "its " + key + " must be a string or an integer");
    }
    recipe[key] = LowerCase(value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (!recipe.contains(kMethod)) {
    throw Failure(thing, "its method is missing",
                  R"(Write one, such as {"method": "cream", "interpolation": "linear"})");
  }
  return recipe;
}

TuningRecipe ReadTuningRecipe(const std::string& model) {
  if (!IsFolder(model)) return {};
  const std::filesystem::path path = std::filesystem::path(model) / kRecipeFile;
  if (!PathExists(path)) return {};
  if (!std::filesystem::is_regular_file(path)) throw Failure(path.string(), "it is not a file");
  const std::string text =
      ReadWholeFile(path.string(), kMostBytes, std::to_string(kMostBytes) + " bytes");
  return ParseTuningRecipe(text.empty() ? "{}" : text, path.string());
}

TuningRecipe RecipeOfModel(const std::string& model) {
  const ModelText text = ParseModelText(model);
  return ReadTuningRecipe(text.adapter.empty() ? text.name : text.adapter);
}

std::string TuningRecipeText(const TuningRecipe& recipe) {
  const auto method = recipe.find(kMethod);
  if (method == recipe.end()) return "no tuning";
  std::string text = method->second;
  for (const auto& [key, value] : recipe) {
    if (key != kMethod) text.append(", ").append(key).append("=").append(value);
  }
  return text;
}

bool IsOfRecipe(const TuningRecipe& run, const TuningRecipe& published) {
  if (published.empty()) return run.empty();
  return std::all_of(published.begin(), published.end(), [&](const auto& field) {
    const auto found = run.find(field.first);
    return found != run.end() && found->second == field.second;
  });
}

}  // namespace midscope
