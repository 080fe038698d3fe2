// SPDX-License-Identifier: MIT
// Facts about a model from its file or folder, also for models that cannot be run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compute/arithmetic.h"
#include "core/compute/device_facts.h"
#include "core/model/model_config.h"
#include "probes/model/arithmetic_distance.h"

namespace midscope::cli {

struct InterventionSupport {
  std::string term;  // "ms-poe"
  bool supported = false;
  std::string why_not;  // reason if not supported, else ""
};

struct TokenizerFacts {
  std::string model;
  std::string pre_tokenizer;
  int64_t vocabulary = 0;
  std::optional<int64_t> bos_id;
  std::vector<int32_t> begin_ids;  // prepended tokens, see Tokenizer::begin_ids
  std::optional<int64_t> eos_id;
  bool add_bos = false;
  bool chat_template = false;
};

struct ModelFacts {
  std::string file;
  std::string format;  // "GGUF", "Hugging Face folder"
  ModelConfig config;  // numbers that the file does not state are 0
  TokenizerFacts tokenizer;
  std::vector<InterventionSupport> interventions;
  int64_t tensors = 0;
  int64_t file_bytes = 0;
  bool supported = false;
  std::string why_not;
  // Deviation of the results in other arithmetics from float32 with products in float; empty if not
  // measured.
  std::vector<std::pair<Arithmetic, ArithmeticDistance>> distances;
  std::vector<DeviceFacts> devices;  // devices of this machine
};

// Reads facts about a model. Throws Error only if `model` is neither a complete GGUF file nor a
// folder with a config.json.
ModelFacts ReadModelFacts(const std::string& model);

// Returns the default prompt lengths, in tokens, for the table of memory.
std::vector<int64_t> UsualLengths(const ModelConfig& config);

// Return the output of `info --json` and `info`, with the memory for prompts of `lengths` tokens;
// the text shows only the longest of these lengths on each device.
std::string FactsJson(const ModelFacts& facts, const std::vector<int64_t>& lengths);
std::string FactsText(const ModelFacts& facts, const std::vector<int64_t>& lengths);

}  // namespace midscope::cli
