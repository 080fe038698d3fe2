// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_grid.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/model/model_text.h"

namespace midscope {
namespace {

constexpr std::string_view kSize = "{size}";

// Returns the task with {size} replaced by each size; only the task itself if it has no {size}.
std::vector<std::string> AtSizes(const std::string& task, const std::vector<int64_t>& sizes) {
  if (task.find(kSize) == std::string::npos) return {task};
  if (sizes.empty()) {
    throw UsageError("task '" + task + "'", "{size} requires sizes",
                     "Give some, such as --size 10,20,40");
  }
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (const int64_t size : sizes) {
    std::string text = task;
    for (size_t at = 0; (at = text.find(kSize, at)) != std::string::npos;) {
      text.replace(at, kSize.size(), std::to_string(size));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

// Replaces characters of a name that are not letters, digits or safe in file names.
std::string PlainName(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (const char c : text) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '=' || c == '-';
    plain += kept ? c : '-';
  }
  return plain;
}

std::string TaskName(const std::string& task) {
  constexpr std::string_view kFile = "file=";
  const size_t file = task.find(kFile);
  if (file == std::string::npos) return PlainName(task);
  const std::string path = task.substr(file + kFile.size());
  return PlainName(task.substr(0, file) + std::filesystem::path(path).stem().string());
}

}  // namespace

std::vector<SweepCell> SweepCells(const std::vector<std::string>& models,
                                  const std::vector<std::string>& tasks,
                                  const std::vector<int64_t>& sizes,
                                  const std::vector<int64_t>& seeds) {
  const bool sized = std::any_of(tasks.begin(), tasks.end(), [](const std::string& task) {
    return task.find(kSize) != std::string::npos;
  });
  if (!sizes.empty() && !sized) {
    throw UsageError("option --size", "no task has a place for it",
                     "Write {size} into a task, such as list:lines={size}");
  }
  std::vector<SweepCell> cells;
  for (const std::string& model : models) {
    for (const std::string& task : tasks) {
      for (const std::string& text : AtSizes(task, sizes)) {
        for (const int64_t seed : seeds) {
          SweepCell cell{model, text, static_cast<uint64_t>(seed)};
          if (std::find(cells.begin(), cells.end(), cell) != cells.end()) {
            std::string named = "model " + model;
            named.append(", task ").append(text);
            named.append(", seed ").append(std::to_string(seed));
            throw UsageError("plan", named + " occurs twice");
          }
          cells.push_back(std::move(cell));
        }
      }
    }
  }
  return cells;
}

namespace {

// Returns the part of a file name that names the model: "SmolLM2-135M-Instruct.Q4_1 adapter=lora".
std::string ModelStem(const std::string& model) {
  ModelText text = ParseModelText(ShortModelText(model));
  text.name = std::filesystem::path(text.name).stem().string();
  return PrintModelText(text);
}

}  // namespace

std::vector<std::string> CellFileNames(const std::vector<SweepCell>& cells) {
  std::vector<std::string> names;
  names.reserve(cells.size());
  for (const SweepCell& cell : cells) {
    constexpr size_t kLongest = 120;
    const std::string model = ModelStem(cell.model);
    const std::string seed = fmt::format("_seed{}", cell.seed);
    const std::string stem = (PlainName(model) + "_" + TaskName(cell.task)).substr(0, kLongest);
    std::string name = stem + seed;
    for (int copy = 2; std::find(names.begin(), names.end(), name + ".h5") != names.end(); ++copy) {
      name = stem + "_";
      name.append(std::to_string(copy)).append(seed);
    }
    names.push_back(name + ".h5");
  }
  return names;
}

std::vector<std::string> CellFileNames(const std::vector<SweepCell>& cells,
                                       const std::vector<std::string>& settings) {
  constexpr size_t kLongest = 60;
  std::vector<std::string> endings;
  for (const std::string& setting : settings) {
    std::string name = PlainName(setting).substr(0, kLongest);
    while (name.ends_with('-')) name.pop_back();
    std::string ending = "_" + name;
    for (int copy = 2; std::find(endings.begin(), endings.end(), ending) != endings.end(); ++copy)
      ending = fmt::format("_{}_{}", name, copy);
    endings.push_back(std::move(ending));
  }
  std::vector<std::string> names;
  for (const std::string& cell : CellFileNames(cells)) {
    const std::string stem = std::filesystem::path(cell).stem().string();
    for (const std::string& ending : endings) names.push_back(stem + ending + ".h5");
  }
  return names;
}

}  // namespace midscope
