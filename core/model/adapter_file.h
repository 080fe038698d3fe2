// SPDX-License-Identifier: MIT
// Reads LoRA adapters (arXiv 2106.09685): W x becomes W x + scale B A x.
//
// Two formats: PEFT's folder (adapter_config.json and adapter_model.safetensors, PEFT 0.21), and
// llama.cpp's GGUF file (general.type "adapter", adapter.lora.alpha, tensors NAME.lora_a and
// NAME.lora_b). An adapter of either format fits a model of either format: module names are mapped
// between Hugging Face and GGUF.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "core/model/model_source.h"

namespace midscope {

// Naming scheme of linear modules in adapters. kPeft: module names of transformers; kGguf: names of
// tensors in GGUF files, without .weight.
enum class ModuleNames { kPeft, kGguf };

// The module of an adapter that contains one of the decoder's weight matrices.
struct AdapterModule {
  std::string name;           // "model.layers.3.self_attn.q_proj"; "blk.3.attn_q"
  int64_t outputs = 0;        // output features of the module
  std::vector<int64_t> rows;  // [row of the decoder's matrix]: row of the module; empty: in order
};

// Returns the modules that contain each matrix of a layer, keyed by the decoder's name ("3.query").
// Experts are included if they are separate modules. If the family has several names for a module,
// there is one element per name. Empty if the family has no names of this kind.
std::map<std::string, std::vector<AdapterModule>> AdapterModules(const ModelConfig& config,
                                                                 ModuleNames names);

// Returns general.architecture in GGUF files of the model's family; "" if there is none.
std::string GgufArchitectureOf(const ModelConfig& config);

struct LowRankPair {
  int64_t rank = 0;
  std::vector<float> a;  // [rank, inputs]
  std::vector<float> b;  // [outputs, rank], rows in the decoder's order
  double scale = 1;      // alpha / rank, or alpha / sqrt(rank) for rank-stabilised LoRA
};

struct AdapterFile {
  std::string path;
  std::string hash;  // XXH3-128 of the weight files
  // Settings in the adapter_config.json of a PEFT folder; 0 for a GGUF file.
  int64_t rank = 0;
  double alpha = 0;
  bool root_scale = false;
  std::map<std::string, LowRankPair> pairs;  // by the decoder's names of matrices: "3.query"
  // A summary of midscope_recipe.json in the adapter's folder: "method cream, interpolation yarn,
  // ..."; "" if there is no such file.
  std::string recipe;
};

// Returns the path of an adapter for a user's text: a folder, a .gguf file, or org/name in the
// Hugging Face cache.
std::filesystem::path ResolveAdapter(const std::string& name);

// Reads an adapter and checks that it fits `model`. Throws Error for files that are missing or
// damaged, settings that change the result and are not supported (DoRA, ranks that differ, biases,
// modules_to_save, embeddings, activated LoRA), another architecture, modules that the model does
// not have, wrong shapes, and numbers that are not finite.
AdapterFile ReadAdapterFile(const std::filesystem::path& path, const ModelSource& model);

// Returns the model with `scale` times the adapter added to its weights. Matrices that the adapter
// changes become float32, whatever their format in the file; other matrices are unchanged. With
// scale 0, all matrices are unchanged, and results equal those without adapter, bit for bit.
std::unique_ptr<ModelSource> WithAdapter(std::unique_ptr<ModelSource> model, AdapterFile adapter,
                                         double scale);

}  // namespace midscope
