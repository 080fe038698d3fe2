// SPDX-License-Identifier: MIT
#include "core/model/adapter_modules.h"

#include <utility>

#include "core/formats/config_json.h"
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

// Whether the tensor is a matrix of one linear module or of several.
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
  // The only setting on which names of weights depend (deepseek); others only decide about biases.
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

}  // namespace midscope
