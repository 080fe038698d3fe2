// SPDX-License-Identifier: MIT
#include "core/model/quantisation_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

using Settings = QuantisationSettings;

constexpr const char* kRemedy =
    "Use the model's float weights, a quantised .gguf file, or weights that transformers wrote: in "
    "Python, model.dequantize() and model.save_pretrained(NEW_FOLDER)";

[[noreturn]] void Refuse(const ConfigJson& config, const std::string& scheme) {
  config.Fail(
      "its weights are quantised (quantization_config) by " + scheme + ", which is not supported",
      kRemedy);
}

void RequireFormat(const ConfigJson& config, const std::string& method, const std::string& format,
                   const std::vector<std::string_view>& supported) {
  if (std::find(supported.begin(), supported.end(), format) != supported.end()) return;
  Refuse(config, fmt::format("{} in the format {} (supported: {})", method, Quote(format),
                             fmt::join(supported, ", ")));
}

int64_t ReadBits(const ConfigJson& config, const std::string& method,
                 const std::vector<int64_t>& supported) {
  const int64_t bits = config.Count(config.Has("w_bit") ? "w_bit" : "bits", 64);
  if (std::find(supported.begin(), supported.end(), bits) == supported.end()) {
    Refuse(config, fmt::format("{} with {} bits (supported: {})", method, bits,
                               fmt::join(supported, ", ")));
  }
  return bits;
}

std::vector<int64_t> ReadBlock(const ConfigJson& config, const char* key) {
  std::vector<int64_t> block = config.Indices(key, 1 << 20);
  if (!block.empty() && (block.size() != 2 || block[0] == 0 || block[1] == 0))
    config.Fail(config.Name(key) + " must hold two positive integers");
  return block;
}

void ReadGptq(const ConfigJson& config, Settings* settings) {
  settings->bits = ReadBits(config, settings->method, {4, 8});
  const std::string format =
      LowerCase(config.Text("checkpoint_format", config.Text("format", "gptq")));
  RequireFormat(config, settings->method,
                config.Flag("is_marlin_format", false) ? "marlin" : format, {"gptq", "gptq_v2"});
  settings->zeros_less_one = format == "gptq";
  settings->symmetric = config.Flag("sym", true);
}

void ReadAwq(const ConfigJson& config, Settings* settings) {
  settings->bits = ReadBits(config, settings->method, {4});
  RequireFormat(config, settings->method,
                LowerCase(config.Text("version", config.Text("format", "gemm"))), {"gemm"});
  settings->symmetric = !config.Flag("zero_point", true);
}

void ReadFp8(const ConfigJson& config, Settings* settings) {
  settings->block = ReadBlock(config, "weight_block_size");
  settings->quantises_activations = true;
}

// Reads settings from the first group; settings of other groups follow from their tensors.
void ReadCompressed(const ConfigJson& config, Settings* settings) {
  RequireFormat(
      config, settings->method, config.Text("format", ""),
      {"pack-quantized", "float-quantized", "int-quantized", "naive-quantized", "mixed-precision"});
  const auto sparsity = config.Object("sparsity_config");
  if (sparsity && sparsity->Text("format", "dense") != "dense")
    Refuse(config, settings->method + " with sparse matrices");
  if (config.IsSet("transform_config")) Refuse(config, settings->method + " with transforms");
  const auto groups = config.Object("config_groups");
  const auto group = groups ? groups->Object("group_0") : std::nullopt;
  if (!group) return;
  settings->quantises_activations = group->Has("input_activations");
  if (const auto weights = group->Object("weights"))
    settings->block = ReadBlock(*weights, "block_structure");
}

void ReadBitsAndBytes(const ConfigJson& config, Settings* settings) {
  settings->quantises_activations = config.Flag("load_in_8bit", false);
}

struct Scheme {
  std::string_view method;
  void (*read)(const ConfigJson& config, Settings* settings);
};

constexpr std::array<Scheme, 6> kSchemes = {{{"gptq", &ReadGptq},
                                             {"awq", &ReadAwq},
                                             {"fp8", &ReadFp8},
                                             {"fbgemm_fp8", &ReadFp8},
                                             {"compressed-tensors", &ReadCompressed},
                                             {"bitsandbytes", &ReadBitsAndBytes}}};

}  // namespace

QuantisationSettings ReadQuantisation(const ConfigJson& config) {
  Settings settings;
  settings.method = config.Text("quant_method", "");
  if (settings.method.empty() && (config.Has("load_in_4bit") || config.Has("load_in_8bit")))
    settings.method = "bitsandbytes";  // its first configurations name no method
  const auto scheme = std::find_if(kSchemes.begin(), kSchemes.end(), [&](const Scheme& known) {
    return known.method == settings.method;
  });
  if (scheme == kSchemes.end())
    Refuse(config, settings.method.empty() ? "an unnamed method" : Quote(settings.method));
  scheme->read(config, &settings);
  return settings;
}

}  // namespace midscope
