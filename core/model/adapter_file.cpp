// SPDX-License-Identifier: MIT
#include "core/model/adapter_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/hashes.h"
#include "core/base/json_fields.h"
#include "core/base/memory_map.h"
#include "core/base/utf8.h"
#include "core/formats/config_json.h"
#include "core/formats/gguf_file.h"
#include "core/formats/safetensors.h"
#include "core/hub/model_cache.h"
#include "core/model/families/family.h"
#include "core/model/model_shapes.h"
#include "core/model/tensor_table.h"

namespace midscope {
namespace {

const Family* FamilyNamed(const std::string& architecture) {
  for (const Family* family : Families()) {
    if (family->name == architecture) return family;
  }
  return nullptr;
}

// Whether the file's tensor is the weight of a linear module, or of several (fused).
bool IsLinear(const TensorPlace& place) {
  if (place.ending != TensorEnding::kWeight) return false;
  switch (place.part) {
    case RowPart::kExpert:
    case RowPart::kExpertGate:
    case RowPart::kExpertUp:
    case RowPart::kExpertEven:
    case RowPart::kExpertOdd:
    case RowPart::kByHead:
    case RowPart::kOnlyRow:
    case RowPart::kTaps:
      return false;
    default:
      return true;
  }
}

std::vector<TensorPlace> PlacesOf(const Family& family, const ModelConfig& config,
                                  ModuleNames names) {
  if (names == ModuleNames::kGguf)
    return family.gguf_tensors == nullptr ? std::vector<TensorPlace>() : family.gguf_tensors();
  if (family.folder_tensors == nullptr) return {};
  // Names of weights depend only on this setting (deepseek); other settings affect only biases.
  const bool one_query = config.latent.query_rank == 0;
  return family.folder_tensors(
      ConfigJson::Parse(one_query ? R"({"q_lora_rank": null})" : "{}", "config.json"));
}

}  // namespace

std::map<std::string, std::vector<AdapterModule>> AdapterModules(const ModelConfig& config,
                                                                 ModuleNames names) {
  const Family* family = FamilyNamed(config.architecture);
  if (family == nullptr) return {};
  const std::vector<TensorPlace> places = PlacesOf(*family, config, names);
  std::map<std::string, std::vector<AdapterModule>> modules;
  for (const NeededTensor& tensor : NeededTensors(config)) {
    if (tensor.layer < 0 || tensor.shape.size() != 2) continue;
    for (const TensorPlace& place : places) {
      if (place.name != tensor.pattern || !IsLinear(place)) continue;
      PlacedRows placed = PlaceRows(place.part, tensor.shape.front(), config);
      modules[tensor.name()].push_back(
          {tensor.NameOf(place.file_name), placed.file_rows, std::move(placed.rows)});
    }
  }
  return modules;
}

std::string GgufArchitectureOf(const ModelConfig& config) {
  const Family* family = FamilyNamed(config.architecture);
  return family == nullptr ? "" : std::string(family->gguf_architecture);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kWeightsFile = "adapter_model.safetensors";
constexpr const char* kPickledFile = "adapter_model.bin";
constexpr const char* kRecipeName = "midscope_recipe.json";
constexpr const char* kOtherModel = "Use the model that the adapter was made for";
constexpr int64_t kMaxRank = 1 << 16;

// A tensor of an adapter file, of either format.
struct StoredTensor {
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  std::optional<kernels::BlockFormat> format;  // none: the dtype is not supported
  std::string dtype;
};
using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

// How one adapter format forms a tensor's name: prefix + module + `a` or `b`.
struct Naming {
  ModuleNames modules;
  std::string_view prefix;
  std::string_view a;
  std::string_view b;
};
constexpr Naming kPeftNaming = {ModuleNames::kPeft, "base_model.model.", ".lora_A.weight",
                                ".lora_B.weight"};
constexpr Naming kGgufNaming = {ModuleNames::kGguf, "", ".weight.lora_a", ".weight.lora_b"};

// Returns the possible names of a module in an adapter: the full name, the name without "model."
// (adapters of a base model), and the names within a model of text and images.
std::vector<std::string> NamesOf(const std::string& module, const Naming& naming) {
  if (naming.modules == ModuleNames::kGguf) return {module};
  const std::string within = module.substr(module.find('.') + 1);
  return {module, within, "language_model." + module, "model.language_model." + within};
}

std::vector<float> Values(const StoredTensor& tensor, const std::string& thing,
                          const std::vector<int64_t>& shape) {
  if (!tensor.format) {
    throw Failure(thing, "the dtype " + tensor.dtype + " is not supported",
                  "Supported: F32, BF16, F16");
  }
  if (tensor.shape != shape) {
    throw Failure(
        thing, "the shape is " + ShapeText(tensor.shape) + "; the model needs " + ShapeText(shape),
        kOtherModel);
  }
  const int64_t size = shape[0] * shape[1];
  std::vector<float> values(static_cast<size_t>(size));
  kernels::Dequantise(tensor.format->type, tensor.data, size, values.data());
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }))
    throw Failure(thing, "it holds values that are not finite", "The file is damaged");
  return values;
}

std::vector<float> OrderedRows(std::vector<float> b, const AdapterModule& module, int64_t rank) {
  if (module.rows.empty()) return b;
  std::vector<float> ordered;
  ordered.reserve(module.rows.size() * static_cast<size_t>(rank));
  for (const int64_t row : module.rows)
    ordered.insert(ordered.end(), b.begin() + row * rank, b.begin() + (row + 1) * rank);
  return ordered;
}

// Reads the LoRA pairs (A, B) of the model's matrices from an adapter's tensors.
class PairReader {
 public:
  PairReader(const Naming& naming, StoredTensors tensors, std::string thing,
             const ModelSource& model)
      : naming_(naming),
        tensors_(std::move(tensors)),
        thing_(std::move(thing)),
        model_(model),
        modules_(AdapterModules(model.config(), naming.modules)) {}

  // `rank`: the rank that every pair must have; 0: each pair's rank is taken from its shape.
  std::map<std::string, LowRankPair> Read(int64_t rank) {
    std::map<std::string, LowRankPair> pairs;
    for (const NeededTensor& needed : NeededTensors(model_.config())) {
      const auto modules = modules_.find(needed.name());
      if (modules == modules_.end()) continue;
      for (const AdapterModule& module : modules->second) {
        for (const std::string& name : NamesOf(module.name, naming_)) {
          auto pair = ReadPair(name, module, needed.shape.back(), rank);
          if (pair && !pairs.emplace(needed.name(), std::move(*pair)).second)
            throw Failure(thing_, "it has two pairs for the matrix " + needed.name());
        }
      }
    }
    CheckAllUsed();
    if (pairs.empty()) throw Failure(thing_, "it has no tensors", "Write the adapter again");
    return pairs;
  }

 private:
  std::optional<LowRankPair> ReadPair(const std::string& module_name, const AdapterModule& module,
                                      int64_t inputs, int64_t rank) {
    const std::string prefix = std::string(naming_.prefix) + module_name;
    const std::string name_a = prefix + std::string(naming_.a);
    const std::string name_b = prefix + std::string(naming_.b);
    const auto a = tensors_.find(name_a);
    const auto b = tensors_.find(name_b);
    if (a == tensors_.end() && b == tensors_.end()) return std::nullopt;
    if (a == tensors_.end() || b == tensors_.end()) {
      throw Failure(thing_,
                    "only one of the two matrices of " + Quote(module_name, 120) + " exists",
                    "The file is not whole; write the adapter again");
    }
    LowRankPair pair;
    pair.rank = rank > 0 || a->second.shape.empty() ? rank : a->second.shape.front();
    if (pair.rank < 1 || pair.rank > kMaxRank) {
      throw Failure(thing_ + ": " + name_a, fmt::format("its rank must be from 1 to {}", kMaxRank),
                    kOtherModel);
    }
    pair.a = Values(a->second, thing_ + ": " + name_a, {pair.rank, inputs});
    pair.b = OrderedRows(Values(b->second, thing_ + ": " + name_b, {module.outputs, pair.rank}),
                         module, pair.rank);
    used_.insert(name_a);
    used_.insert(name_b);
    return pair;
  }

  void CheckAllUsed() const {
    for (const auto& [name, tensor] : tensors_) {
      if (used_.contains(name)) continue;
      throw Failure(thing_,
                    "the tensor " + Quote(name, 120) + " belongs to no projection of the model " +
                        model_.path() + " that can be adapted",
                    std::string(kOtherModel) +
                        "; adapters of embeddings, output matrices, norms and joined experts are "
                        "not supported");
    }
  }

  const Naming& naming_;
  StoredTensors tensors_;
  std::string thing_;
  const ModelSource& model_;
  std::map<std::string, std::vector<AdapterModule>> modules_;
  std::set<std::string, std::less<>> used_;  // a fused module's tensors are read once per matrix
};

std::optional<kernels::BlockFormat> FormatOf(const std::string& dtype) {
  for (const auto type :
       {kernels::BlockType::kF32, kernels::BlockType::kF16, kernels::BlockType::kBF16}) {
    const auto format = kernels::FindBlockFormat(static_cast<uint32_t>(type));
    if (format->name == dtype) return format;
  }
  return std::nullopt;
}

void CheckPeftConfig(const ConfigJson& json) {
  if (json.Text("peft_type", "") != "LORA")
    json.Fail("has a peft_type that is not LORA", "Only LoRA adapters can be opened");
  if (json.Text("bias", "none") != "none") json.Fail("has a bias that is not none");
  for (const char* key :
       {"use_dora", "use_qalora", "use_bdlora", "lora_bias", "rank_pattern", "alpha_pattern",
        "modules_to_save", "target_parameters", "layer_replication", "trainable_token_indices",
        "alora_invocation_tokens", "arrow_config"}) {
    if (json.IsSet(key)) {
      json.Fail("sets " + std::string(key) + ", which is not supported",
                "Merge the adapter into the model (PEFT: merge_and_unload) and open that");
    }
  }
}

AdapterFile ReadPeft(const fs::path& folder, const ModelSource& model) {
  const ConfigJson json = ConfigJson::Read(folder / kConfigFile);
  CheckPeftConfig(json);
  AdapterFile adapter;
  adapter.rank = json.Count("r", kMaxRank);
  adapter.alpha = json.Positive("lora_alpha");
  adapter.root_scale = json.Flag("use_rslora", false);
  if (!PathExists(folder / kWeightsFile) && PathExists(folder / kPickledFile)) {
    throw Failure((folder / kPickledFile).string(), "a pickled adapter cannot be read",
                  "Save it again with safe_serialization=True (PEFT's save_pretrained)");
  }
  const MemoryMap file(folder / kWeightsFile);
  const std::string thing = file.path().string();
  StoredTensors tensors;
  for (auto& [name, tensor] : ParseSafetensorsHeader(file.bytes(), thing))
    tensors[name] = {tensor.shape, tensor.data, FormatOf(tensor.dtype), tensor.dtype};
  adapter.pairs = PairReader(kPeftNaming, std::move(tensors), thing, model).Read(adapter.rank);
  file.CheckWhole();
  const auto rank = static_cast<double>(adapter.rank);
  for (auto& [name, pair] : adapter.pairs)
    pair.scale = adapter.alpha / (adapter.root_scale ? std::sqrt(rank) : rank);
  adapter.hash = HashMaps(std::span(&file, 1));
  return adapter;
}

// An adapter.lora.alpha of 0 means a scale of 1, as in llama.cpp.
AdapterFile ReadGguf(const fs::path& path, const ModelSource& model) {
  const GgufFile file(path);
  const std::string thing = path.string();
  const std::string type = file.GetString("general.type").value_or("model");
  if (type != "adapter") {
    throw Failure(thing, "its general.type is " + Quote(type) + ", not 'adapter'",
                  "Name a LoRA adapter (llama.cpp: convert_lora_to_gguf.py)");
  }
  const std::string kind = file.GetString("adapter.type").value_or("");
  if (kind != "lora") {
    throw Failure(thing, "its adapter.type is " + Quote(kind) + ", not 'lora'",
                  "A control vector is applied with --with 'vector(FILE)'");
  }
  const std::string architecture = file.GetString("general.architecture").value_or("");
  if (architecture != GgufArchitectureOf(model.config())) {
    throw Failure(thing,
                  "it was made for the architecture " + Quote(architecture) + "; the model's is " +
                      Quote(GgufArchitectureOf(model.config())),
                  kOtherModel);
  }
  if (file.Has("adapter.alora.invocation_tokens")) {
    throw Failure(thing, "it is active only after certain tokens, which is not supported",
                  "Use a plain LoRA adapter");
  }
  const double alpha = file.GetFloat("adapter.lora.alpha").value_or(0);
  if (!std::isfinite(alpha) || alpha < 0)
    throw Failure(thing, "its adapter.lora.alpha must be a number >= 0", "The file is damaged");
  StoredTensors tensors;
  for (const GgufTensor& tensor : file.tensors()) {
    tensors[tensor.name] = {tensor.shape, tensor.data, tensor.format,
                            std::string(tensor.format.name)};
  }
  AdapterFile adapter;
  adapter.pairs = PairReader(kGgufNaming, std::move(tensors), thing, model).Read(0);
  for (const MemoryMap& map : file.maps()) map.CheckWhole();
  for (auto& [name, pair] : adapter.pairs)
    pair.scale = alpha > 0 ? alpha / static_cast<double>(pair.rank) : 1.0;
  adapter.hash = HashMaps(file.maps());
  return adapter;
}

std::string RecipeBeside(const fs::path& adapter) {
  const fs::path file = (IsFolder(adapter) ? adapter : adapter.parent_path()) / kRecipeName;
  if (!PathExists(file)) return "";
  constexpr int64_t kMaxBytes = 1 << 16;
  const nlohmann::json json =
      ParseJson(ReadWholeFile(file.string(), kMaxBytes, "64 KiB"), file.string());
  std::string text;
  for (const char* field : {"method", "interpolation", "factor", "context"}) {
    if (!json.is_object() || !json.contains(field)) continue;
    const nlohmann::json& value = json.at(field);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace

fs::path ResolveAdapter(const std::string& name) {
  if (PathExists(name)) return name;
  if (const auto folder = FindCachedModel(name)) return *folder;
  throw Failure("adapter " + Quote(name), "no such file or folder",
                "Name a folder with " + std::string(kConfigFile) + ", or a .gguf file");
}

AdapterFile ReadAdapterFile(const fs::path& path, const ModelSource& model) {
  const bool folder = IsFolder(path);
  fs::path used = path;
  if (folder && !PathExists(path / kConfigFile)) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.path().extension() == ".gguf") files.push_back(entry.path());
    }
    if (files.size() != 1) {
      throw Failure(
          "adapter " + path.string(),
          "the folder has neither " + std::string(kConfigFile) + " nor exactly one .gguf file",
          "Name the folder that PEFT's save_pretrained or midscope tune wrote");
    }
    used = files.front();
  } else if (!folder && path.extension() != ".gguf") {
    throw Failure(
        "adapter " + path.string(), "it is neither a folder nor a .gguf file",
        "Name its folder: " + (path.has_parent_path() ? path.parent_path().string() : "."));
  }
  const bool peft = folder && used == path;
  AdapterFile adapter = peft ? ReadPeft(path, model) : ReadGguf(used, model);
  adapter.path = path.string();
  adapter.recipe = RecipeBeside(used);
  return adapter;
}

}  // namespace midscope
