// SPDX-License-Identifier: MIT
#include "data/published/tuning_recipe.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.h"

namespace midscope {
namespace {

constexpr const char* kMethod = "method";
constexpr std::uintmax_t kMostBytes = 1 << 16;

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return text;
}

}  // namespace

TuningRecipe ParseTuningRecipe(const std::string& text, const std::string& thing) {
  if (text.empty()) return {};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Failure(thing, "it is no recipe: not an object of JSON");
  TuningRecipe recipe;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string() && !value.is_number_integer()) {
      throw Failure(thing, "its " + key + " is neither a text nor a whole number");
    }
    recipe[key] = LowerCase(value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (!recipe.contains(kMethod)) {
    throw Failure(thing, "it has no method",
                  R"(Write one, such as {"method": "cream", "interpolation": "linear"})");
  }
  return recipe;
}

TuningRecipe ReadTuningRecipe(const std::string& model) {
  std::error_code error;
  if (!std::filesystem::is_directory(model, error)) return {};
  const std::filesystem::path path = std::filesystem::path(model) / kRecipeFile;
  if (!std::filesystem::exists(path, error)) return {};
  if (!std::filesystem::is_regular_file(path, error)) throw Failure(path.string(), "it is no file");
  if (std::filesystem::file_size(path, error) > kMostBytes || error) {
    throw Failure(path.string(), "it is too long for a recipe, or cannot be read");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Failure(path.string(), "it cannot be read");
  return ParseTuningRecipe(text.str().empty() ? "{}" : text.str(), path.string());
}

std::string TuningRecipeJson(const TuningRecipe& recipe) {
  return nlohmann::json(recipe).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
