// SPDX-License-Identifier: MIT
// The quantisation schemes of Hugging Face folders, read from quantization_config in config.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/config_json.h"

namespace midscope {

// The settings that cannot be derived from the tensors.
struct QuantisationSettings {
  std::string method;               // quant_method: "gptq"
  int64_t bits = 4;                 // GPTQ and AWQ
  bool zeros_less_one = false;      // GPTQ's first format stores zero - 1
  bool symmetric = false;           // all zeros are the middle level
  std::vector<int64_t> block = {};  // [rows, columns] that share a scale; empty: none
  // Whether the scheme also quantises activations while a model runs.
  bool quantises_activations = false;
};

// Reads quantization_config. Throws Error, with a remedy, for an unsupported scheme.
QuantisationSettings ReadQuantisation(const ConfigJson& config);

}  // namespace midscope
