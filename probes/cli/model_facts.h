// SPDX-License-Identifier: MIT
// What a model's file or folder says, whether or not the model can be run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model_config.h"

namespace midscope::cli {

struct TokenizerFacts {
  std::string model;
  std::string pre_tokenizer;
  std::optional<int64_t> bos_id;
  std::optional<int64_t> eos_id;
  bool add_bos = false;
  bool chat_template = false;
};

struct ModelFacts {
  std::string file;
  ModelConfig config;  // numbers that the file does not state are 0
  TokenizerFacts tokenizer;
  int64_t tensors = 0;
  int64_t file_bytes = 0;
  bool supported = false;
  std::string why_not;
};

// Throws Error only where nothing can be told: no whole GGUF file, no folder with a config.json.
ModelFacts ReadModelFacts(const std::string& model);

// As `info --json` and `info` print them.
std::string FactsJson(const ModelFacts& facts);
std::string FactsText(const ModelFacts& facts);

}  // namespace midscope::cli
