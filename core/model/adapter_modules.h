// SPDX-License-Identifier: MIT
// The linear modules of a model by the names that adapters use. Internal to core.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

// kPeft: names of modules in transformers; kGguf: names of tensors in GGUF files, without .weight.
enum class ModuleNames { kPeft, kGguf };

// One of the decoder's matrices within a module.
struct AdapterModule {
  std::string name;           // "model.layers.3.self_attn.q_proj"; "blk.3.attn_q"
  int64_t outputs = 0;        // of the module
  std::vector<int64_t> rows;  // [row of the matrix]: the module's output; empty: all, in order
};

// Returns the modules by the decoder's names of their matrices ("3.query"): the matrices of layers,
// including experts that are separate modules. If the family has several names for a module, there
// is one element for each. Empty for a family without such names.
std::map<std::string, std::vector<AdapterModule>> AdapterModules(const ModelConfig& config,
                                                                 ModuleNames names);

// Returns the general.architecture of GGUF files of this family; "" if there is none.
std::string GgufArchitectureOf(const ModelConfig& config);

}  // namespace midscope
