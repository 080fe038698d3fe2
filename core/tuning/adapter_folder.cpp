// SPDX-License-Identifier: MIT
#include "core/tuning/adapter_folder.h"

#include <ATen/ATen.h>

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/memory_map.h"
#include "core/base/utf8.h"
#include "core/formats/config_json.h"
#include "core/formats/safetensors_header.h"
#include "core/formats/safetensors_writer.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

constexpr const char* kConfigName = "adapter_config.json";
constexpr const char* kWeightsName = "adapter_model.safetensors";
constexpr std::string_view kModelPrefix = "base_model.model.";
constexpr std::string_view kWeightEnding = ".weight";
constexpr std::string_view kGgufPrefix = "blk.";
constexpr int64_t kLargestRank = 1 << 16;

// A linear module of the Hugging Face model.
struct Module {
  std::string name;                // "model.layers.3.self_attn.q_proj"
  std::vector<int64_t> row_order;  // [row of the decoder's matrix]: the module's row; empty: equal
};

// Modules of families with llama's names, for GGUF files, whose own names are others. Their rows
// are in the decoder's order.
std::string LlamaModule(const NeededTensor& tensor) {
  static const std::map<std::string_view, std::string_view> names = {
      {"N.query", "self_attn.q_proj"}, {"N.key", "self_attn.k_proj"},
      {"N.value", "self_attn.v_proj"}, {"N.attention_out", "self_attn.o_proj"},
      {"N.gate", "mlp.gate_proj"},     {"N.up", "mlp.up_proj"},
      {"N.down", "mlp.down_proj"},
  };
  const auto found = names.find(tensor.pattern);
  if (found == names.end()) return "";
  return "model.layers." + std::to_string(tensor.layer) + "." + std::string(found->second);
}

bool HasLlamaModules(const std::string& architecture) {
  static const std::set<std::string_view> architectures = {
      "llama",   "mistral", "qwen2", "qwen3",    "gemma",      "gemma2", "gemma3",  "smollm3",
      "granite", "olmo",    "olmo2", "seed_oss", "ministral3", "arcee",  "exaone4", "internlm3"};
  return architectures.contains(architecture);
}

// Returns the modules by the decoder's names of their matrices: "3.query". Modules that hold
// several matrices are left out.
std::map<std::string, Module> ModulesOf(const ModelSource& source) {
  std::map<std::string, Module> modules;
  std::map<std::string, int> matrices;
  for (const NeededTensor& tensor : NeededTensors(source.config())) {
    const TensorRef* stored = source.Find(tensor.name());
    if (tensor.shape.size() != 2 || stored == nullptr || tensor.layer < 0) continue;
    const bool gguf = stored->file_name.starts_with(kGgufPrefix);
    std::string name = stored->file_name;
    if (gguf) {
      name = HasLlamaModules(source.config().architecture) ? LlamaModule(tensor) : "";
    } else if (name.ends_with(kWeightEnding)) {
      name.resize(name.size() - kWeightEnding.size());
    }
    if (name.empty()) continue;
    ++matrices[name];
    modules[tensor.name()] = {name, gguf ? std::vector<int64_t>() : stored->row_order};
  }
  std::erase_if(modules, [&](const auto& module) { return matrices[module.second.name] > 1; });
  return modules;
}

at::Tensor Order(const std::vector<int64_t>& row_order) { return at::tensor(row_order, at::kLong); }

// Returns the tensor in float32.
at::Tensor Floats(const SafetensorsTensor& stored, const std::string& thing,
                  const std::vector<int64_t>& shape) {
  static const std::map<std::string_view, at::ScalarType> dtypes = {
      {"F32", at::kFloat}, {"BF16", at::kBFloat16}, {"F16", at::kHalf}};
  const auto dtype = dtypes.find(stored.dtype);
  if (dtype == dtypes.end()) {
    throw Failure(thing, "the dtype " + stored.dtype + " is not supported",
                  "Supported: F32, BF16, F16");
  }
  if (stored.shape != shape) {
    throw Failure(
        thing, "the shape is " + ShapeText(stored.shape) + "; the model needs " + ShapeText(shape),
        "Use the model that the adapter was made for");
  }
  const at::Tensor values = at::empty(shape, dtype->second);
  std::memcpy(values.data_ptr(), stored.data, static_cast<size_t>(stored.bytes));
  if (!values.isfinite().all().item<bool>())
    throw Failure(thing, "it holds values that are not finite", "The file is damaged");
  return values.to(at::kFloat);
}

void CheckConfig(const ConfigJson& json) {
  if (json.Text("peft_type", "") != "LORA") json.Fail("has a peft_type that is not LORA");
  if (json.Text("bias", "none") != "none") json.Fail("has a bias that is not none");
  for (const char* key :
       {"use_dora", "use_qalora", "use_bdlora", "lora_bias", "fan_in_fan_out", "rank_pattern",
        "alpha_pattern", "modules_to_save", "target_parameters", "layer_replication",
        "trainable_token_indices", "alora_invocation_tokens", "arrow_config"}) {
    if (json.IsSet(key)) json.Fail("sets " + std::string(key) + ", which is not supported");
  }
}

const Module& ModuleOf(const std::map<std::string, Module>& modules, const std::string& name,
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

void WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Failure(path.string(), "it cannot be written", "Check the free space");
}

}  // namespace

LoraAdapter ReadAdapter(const std::filesystem::path& folder, const ModelSource& source) {
  const ConfigJson json = ConfigJson::Read(folder / kConfigName);
  CheckConfig(json);
  LoraAdapter adapter{json.Count("r", kLargestRank),
                      json.Positive("lora_alpha"),
                      json.Flag("use_rslora", false),
                      {}};
  const MemoryMap file(folder / kWeightsName);
  const std::string thing = file.path().string();
  SafetensorsTensors tensors = ParseSafetensorsHeader(file.bytes(), thing);
  const std::map<std::string, Module> modules = ModulesOf(source);
  for (const NeededTensor& needed : NeededTensors(source.config())) {
    const auto module = modules.find(needed.name());
    if (module == modules.end()) continue;
    const auto take = [&](const std::string& ending, const std::vector<int64_t>& shape) {
      const std::string name = std::string(kModelPrefix) + module->second.name + ending;
      const auto found = tensors.find(name);
      if (found == tensors.end()) return at::Tensor();
      std::string where = thing;
      where.append(": ").append(name);
      at::Tensor values = Floats(found->second, where, shape);
      tensors.erase(found);
      return values;
    };
    const at::Tensor a = take(".lora_A.weight", {adapter.rank, needed.shape[1]});
    at::Tensor b = take(".lora_B.weight", {needed.shape[0], adapter.rank});
    if (!a.defined() && !b.defined()) continue;
    if (!a.defined() || !b.defined())
      throw Failure(thing, "only one of the two matrices of " + module->second.name + " exists");
    if (!module->second.row_order.empty()) b = b.index_select(0, Order(module->second.row_order));
    adapter.tensors[needed.name() + kLoraA] = a;
    adapter.tensors[needed.name() + kLoraB] = b;
  }
  if (!tensors.empty()) {
    throw Failure(thing,
                  "the tensor " + Quote(tensors.begin()->first) +
                      " belongs to no projection of the model " + source.path() +
                      " that can be adapted",
                  "Use the model that the adapter was made for; modules that hold several "
                  "projections are not supported");
  }
  if (adapter.tensors.empty()) throw Failure(thing, "it has no tensors");
  return adapter;
}

void WriteAdapter(const LoraAdapter& adapter, const ModelSource& source,
                  const std::filesystem::path& folder) {
  const std::map<std::string, Module> modules = ModulesOf(source);
  SafetensorsTensors tensors;
  std::vector<at::Tensor> held;  // while `tensors` points to them
  std::set<std::string> targets;
  for (const auto& [name, tensor] : adapter.tensors) {
    const bool is_b = name.ends_with(kLoraB);
    const Module& module =
        ModuleOf(modules, name.substr(0, name.size() - std::strlen(kLoraA)), source);
    at::Tensor values = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    if (is_b && !module.row_order.empty())
      values = at::empty_like(values).index_copy_(0, Order(module.row_order), values);
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
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Failure(folder.string(), "it cannot be made: " + failed.message());
  WriteSafetensors(folder / kWeightsName, tensors);
  WriteText(folder / kConfigName, config.dump(2) + "\n");
}

}  // namespace midscope
