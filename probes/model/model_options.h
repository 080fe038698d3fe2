// SPDX-License-Identifier: MIT
// The options with which all commands and the window open a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/decoder/decoder.h"

namespace midscope {

// A request to open a model, as plain values.

// The dtype of a request that takes the fastest one, and the products of one that takes them with
// it (core/decoder/arithmetic_choice.h).
inline constexpr const char* kAutoDtype = "auto";
inline constexpr const char* kAutoProducts = "auto";

struct OpenRequest {
  std::string model = "embedded";  // see Decoder::Open
  std::string dtype = "float32";   // "bfloat16", "auto"
  std::string products = "float";  // "int16", "int8", "auto"
  int threads = 0;
  std::string weights = "auto";  // "stored", "expanded"
  std::string device = "cpu";    // core/compute/placement.h
  bool sliding_window = true;    // DecoderOptions::sliding_window
  bool beyond_context = false;   // DecoderOptions::beyond_context
};

// model (by position on a command line), dtype, products, weights, threads, sliding-window, device.
std::vector<Parameter> ModelOptions();

// --beyond-context, of commands that run prompts. ReadDecoderOptions and MakeOpenRequest read it
// where the options have it.
Parameter BeyondContextOption();

// The engine's request to open `model` with these values of the other options.
OpenRequest MakeOpenRequest(const std::string& model, const OptionSet& options);

// Sets the options that have `request` as their MakeOpenRequest.
void SetOpenRequest(const OpenRequest& request, OptionSet& options);

// The decoder options of those options, or of a request. Throws Error (usage).
DecoderOptions ReadDecoderOptions(const OptionSet& options);
DecoderOptions ReadDecoderOptions(const OpenRequest& request);

// Options of --dtype auto --products auto.
DecoderOptions AutoOptions();

// Inverse of ProductsName. Throws Error (usage).
Products ParseProducts(std::string_view name);

// All that a model can be run in.
inline constexpr kernels::Dtype kDtypes[] = {kernels::Dtype::kFloat32, kernels::Dtype::kBFloat16,
                                             kernels::Dtype::kFloat16};
// One of every size, for tables of memory.
inline constexpr kernels::Dtype kDtypeSizes[] = {kernels::Dtype::kFloat32,
                                                 kernels::Dtype::kBFloat16};
// Inverse of DtypeName. Throws Error (usage).
kernels::Dtype ParseDtype(std::string_view name);

// "auto", "stored", "expanded". Parsing throws Error (usage).
std::string WeightStorageName(WeightStorage storage);
WeightStorage ParseWeightStorage(std::string_view name);

}  // namespace midscope
