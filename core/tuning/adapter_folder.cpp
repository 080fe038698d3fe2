// SPDX-License-Identifier: MIT
#include "core/tuning/adapter_folder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/formats/safetensors.h"
#include "core/model/adapter_file.h"

namespace midscope {
namespace {

constexpr const char* kConfigName = "adapter_config.json";
constexpr const char* kWeightsName = "adapter_model.safetensors";
constexpr std::string_view kModelPrefix = "base_model.model.";

using Modules = std::map<std::string, AdapterModule>;

// Returns the modules by the decoder's names of their matrices: "3.query".
Modules ModulesOf(const ModelSource& source) {
  Modules modules;
  for (auto& [matrix, names] : AdapterModules(source.config(), ModuleNames::kPeft)) {
    const TensorRef* stored = source.Find(matrix);
    const auto in_file = std::find_if(names.begin(), names.end(), [&](const AdapterModule& module) {
      return stored != nullptr && stored->file_name == module.name + ".weight";
    });
    modules[matrix] = in_file == names.end() ? names.front() : *in_file;
  }
  return modules;
}

at::Tensor Order(const std::vector<int64_t>& row_order) { return at::tensor(row_order, at::kLong); }

at::Tensor TensorOf(const std::vector<float>& values, int64_t rows) {
  return at::tensor(values, at::kFloat).reshape({rows, -1});
}

const AdapterModule& ModuleOf(const Modules& modules, const std::string& name,
                              const ModelSource& source) {
  const auto found = modules.find(name);
  if (found != modules.end()) return found->second;
  throw Failure(source.path(),
                "the matrix " + name + " has no module in PEFT's format for the model type " +
                    source.config().architecture,
                "Adapt other projections, or use the model's Hugging Face folder");
}

// A module's matrices in the adapter, "3.query", "3.key", "3.value", and their places in it.
struct AdaptedModule {
  int64_t outputs = 0;
  std::vector<std::pair<std::string, std::vector<int64_t>>> matrices;
};

std::map<std::string, AdaptedModule> AdaptedModules(const LoraAdapter& adapter,
                                                    const ModelSource& source) {
  const Modules modules = ModulesOf(source);
  std::map<std::string, AdaptedModule> adapted;
  for (const auto& [name, tensor] : adapter.tensors) {
    if (!name.ends_with(kLoraA)) continue;
    std::string matrix = name.substr(0, name.size() - std::strlen(kLoraA));
    const AdapterModule& module = ModuleOf(modules, matrix, source);
    AdaptedModule& entry = adapted[module.name];
    entry.outputs = module.outputs;
    entry.matrices.emplace_back(std::move(matrix), module.rows);
  }
  return adapted;
}

}  // namespace

LoraAdapter ReadAdapter(const std::filesystem::path& folder, const ModelSource& source) {
  const AdapterFile file = ReadAdapterFile(folder, source);
  if (file.rank == 0) {
    throw Failure(folder.string(), "it is a GGUF file", "Name a folder in PEFT's format");
  }
  LoraAdapter adapter{file.rank, file.alpha, file.root_scale, {}};
  for (const auto& [name, pair] : file.pairs) {
    adapter.tensors[name + kLoraA] = TensorOf(pair.a, pair.rank);
    adapter.tensors[name + kLoraB] =
        TensorOf(pair.b, static_cast<int64_t>(pair.b.size()) / pair.rank);
  }
  return adapter;
}

void CheckAdapterModules(const LoraAdapter& adapter, const ModelSource& source) {
  (void)AdaptedModules(adapter, source);
}

void WriteAdapter(const LoraAdapter& adapter, const ModelSource& source,
                  const std::filesystem::path& folder) {
  const std::map<std::string, AdaptedModule> modules = AdaptedModules(adapter, source);
  int64_t most = 1;
  for (const auto& [name, module] : modules) most = std::max(most, std::ssize(module.matrices));
  const int64_t rank = most * adapter.rank;
  SafetensorsTensors tensors;
  std::vector<at::Tensor> held;  // while `tensors` points to them
  std::set<std::string> targets;
  const auto add = [&](const std::string& name, const at::Tensor& values) {
    tensors[std::string(kModelPrefix) + name + ".weight"] = {
        "F32", values.sizes().vec(), static_cast<const std::byte*>(values.const_data_ptr()),
        static_cast<int64_t>(values.nbytes())};
    held.push_back(values);
  };
  for (const auto& entry : modules) {
    const std::string& name = entry.first;
    const AdaptedModule& module = entry.second;
    const auto part = [&](size_t i, const char* ending) {
      return adapter.tensors.at(module.matrices[i].first + ending)
          .detach()
          .to(at::kCPU, at::kFloat);
    };
    at::Tensor a = at::zeros({rank, part(0, kLoraA).size(1)});
    at::Tensor b = at::zeros({module.outputs, rank});
    for (size_t i = 0; i < module.matrices.size(); ++i) {
      const int64_t first = static_cast<int64_t>(i) * adapter.rank;
      a.narrow(0, first, adapter.rank).copy_(part(i, kLoraA));
      at::Tensor columns = b.narrow(1, first, adapter.rank);
      const std::vector<int64_t>& rows = module.matrices[i].second;
      if (rows.empty()) {
        columns.copy_(part(i, kLoraB));
      } else {
        columns.index_copy_(0, Order(rows), part(i, kLoraB));
      }
    }
    add(name + ".lora_A", a);
    add(name + ".lora_B", b);
    targets.insert(name.substr(name.rfind('.') + 1));
  }
  // The scale stays that of each pair.
  const auto ratio = static_cast<double>(most);
  const double alpha = adapter.alpha * (adapter.root_scale ? std::sqrt(ratio) : ratio);
  const nlohmann::json config = {{"peft_type", "LORA"},
                                 {"task_type", "CAUSAL_LM"},
                                 {"base_model_name_or_path", source.path()},
                                 {"r", rank},
                                 {"lora_alpha", alpha},
                                 {"use_rslora", adapter.root_scale},
                                 {"lora_dropout", 0.0},
                                 {"bias", "none"},
                                 {"fan_in_fan_out", false},
                                 {"inference_mode", true},
                                 {"init_lora_weights", true},
                                 {"target_modules", targets}};
  MakeFolder(folder);
  WriteSafetensors(folder / kWeightsName, tensors);
  WriteTextAt(folder / kConfigName, config.dump(2) + "\n");
}

}  // namespace midscope
