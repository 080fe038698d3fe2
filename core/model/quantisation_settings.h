// SPDX-License-Identifier: MIT
// The schemes of quantised Hugging Face folders, as the object quantization_config states them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/config_json.h"

namespace midscope {

// The settings that the tensors themselves do not show.
struct QuantisationSettings {
  std::string method;               // quant_method: "gptq"
  int64_t bits = 4;                 // GPTQ and AWQ
  bool zeros_less_one = false;      // GPTQ's first format stores zero - 1
  bool symmetric = false;           // all zeros are the middle level
  std::vector<int64_t> block = {};  // [rows, columns] that share a scale; empty: none
  // Whether the scheme also quantises activations while a model runs.
  bool quantises_activations = false;
};

// Throws Error, with a remedy, for a scheme that is not read.
QuantisationSettings ReadQuantisation(const ConfigJson& config);

}  // namespace midscope
