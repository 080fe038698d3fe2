// SPDX-License-Identifier: MIT
// Reads LoRA adapters (arXiv 2106.09685): W x becomes W x + scale B A x.
//
// Two formats: PEFT's folder (adapter_config.json and adapter_model.safetensors, PEFT 0.21), and
// llama.cpp's GGUF file (general.type "adapter", adapter.lora.alpha, tensors NAME.lora_a and
// NAME.lora_b). Either fits either kind of model file: a GGUF file's matrices are matched by the
// module names of the Hugging Face model that it was made from, and the other way round.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// The names that adapters use for the linear modules of a model. kPeft: names of modules in
// transformers; kGguf: names of tensors in GGUF files, without .weight.
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

struct LowRankPair {
  int64_t rank = 0;
  std::vector<float> a;  // [rank, inputs]
  std::vector<float> b;  // [outputs, rank], rows in the decoder's order
  double scale = 1;      // alpha / rank, or alpha / sqrt(rank) for rank-stabilised LoRA
};

struct AdapterFile {
  std::string path;
  std::string hash;  // XXH3-128 of the files that set the numbers
  // The settings of a PEFT folder; 0 for a GGUF file.
  int64_t rank = 0;
  double alpha = 0;
  bool root_scale = false;
  std::map<std::string, LowRankPair> pairs;  // by the decoder's names of matrices: "3.query"
  // Describes midscope_recipe.json beside the weights: "method cream, interpolation yarn, ..."; ""
  // if there is none.
  std::string recipe;
};

// Returns the folder or file for a user's name of an adapter: a folder, a .gguf file, or org/name
// in the Hugging Face cache.
std::filesystem::path ResolveAdapter(const std::string& name);

// Reads an adapter of this model. Throws Error for files that are missing or damaged, settings that
// change the result and are not supported (DoRA, ranks that differ, biases, modules_to_save,
// embeddings, activated LoRA), another architecture, modules that the model does not have, wrong
// shapes, and numbers that are not finite.
AdapterFile ReadAdapterFile(const std::filesystem::path& path, const ModelSource& model);

// Returns the model with `scale` times the adapter added to its weights. Matrices that the adapter
// changes become float32, whatever their format in the file; all others stay as they are, and with
// scale 0 all do, so that the model's numbers are then those without adapter, bit for bit.
std::unique_ptr<ModelSource> WithAdapter(std::unique_ptr<ModelSource> model, AdapterFile adapter,
                                         double scale);

}  // namespace midscope
