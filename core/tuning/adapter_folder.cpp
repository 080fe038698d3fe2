// SPDX-License-Identifier: MIT
#include "core/tuning/adapter_folder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/safetensors_writer.h"
#include "core/formats/text_writer.h"
#include "core/model/adapter_file.h"
#include "core/model/adapter_modules.h"

namespace midscope {
namespace {

constexpr const char* kConfigName = "adapter_config.json";
constexpr const char* kWeightsName = "adapter_model.safetensors";
constexpr std::string_view kModelPrefix = "base_model.model.";

using Modules = std::map<std::string, AdapterModule>;

// Returns the modules by the decoder's names of their matrices: "3.query". Modules that hold
// several matrices are left out.
Modules ModulesOf(const ModelSource& source) {
  Modules modules;
  std::map<std::string, int> matrices;
  for (auto& [matrix, names] : AdapterModules(source.config(), ModuleNames::kPeft)) {
    const TensorRef* stored = source.Find(matrix);
    const auto in_file = std::find_if(names.begin(), names.end(), [&](const AdapterModule& module) {
      return stored != nullptr && stored->file_name == module.name + ".weight";
    });
    const AdapterModule& module = in_file == names.end() ? names.front() : *in_file;
    ++matrices[module.name];
    modules[matrix] = module;
  }
  std::erase_if(modules, [&](const auto& module) { return matrices[module.second.name] > 1; });
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
                "the matrix " + name +
                    " has no module of its own in PEFT's format for the model "
                    "type " +
                    source.config().architecture,
                "Adapt other projections, or use the model's Hugging Face folder");
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

void WriteAdapter(const LoraAdapter& adapter, const ModelSource& source,
                  const std::filesystem::path& folder) {
  const Modules modules = ModulesOf(source);
  SafetensorsTensors tensors;
  std::vector<at::Tensor> held;  // while `tensors` points to them
  std::set<std::string> targets;
  for (const auto& [name, tensor] : adapter.tensors) {
    const bool is_b = name.ends_with(kLoraB);
    const AdapterModule& module =
        ModuleOf(modules, name.substr(0, name.size() - std::strlen(kLoraA)), source);
    at::Tensor values = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    if (is_b && !module.rows.empty())
      values = at::empty_like(values).index_copy_(0, Order(module.rows), values);
    const std::string ending = is_b ? ".lora_B.weight" : ".lora_A.weight";
    tensors[std::string(kModelPrefix) + module.name + ending] = {
        "F32", values.sizes().vec(), static_cast<const std::byte*>(values.const_data_ptr()),
        static_cast<int64_t>(values.nbytes())};
    held.push_back(values);
    targets.insert(module.name.substr(module.name.rfind('.') + 1));
  }
  const nlohmann::json config = {{"peft_type", "LORA"},
                                 {"task_type", "CAUSAL_LM"},
                                 {"base_model_name_or_path", source.path()},
                                 {"r", adapter.rank},
                                 {"lora_alpha", adapter.alpha},
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
