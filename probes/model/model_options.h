// SPDX-License-Identifier: MIT
// The options with which all commands and the window open a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "probes/model/open_request.h"

namespace midscope {

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

// Those of --dtype auto --products auto.
DecoderOptions AutoOptions();

// Of ProductsName. Throws Error (usage).
Products ParseProducts(std::string_view name);

// All that a model can be run in.
inline constexpr kernels::Dtype kDtypes[] = {kernels::Dtype::kFloat32, kernels::Dtype::kBFloat16,
                                             kernels::Dtype::kFloat16};
// One of every size, for tables of memory.
inline constexpr kernels::Dtype kDtypeSizes[] = {kernels::Dtype::kFloat32,
                                                 kernels::Dtype::kBFloat16};
// Of DtypeName. Throws Error (usage).
kernels::Dtype ParseDtype(std::string_view name);

// "auto", "stored", "expanded". Parsing throws Error (usage).
std::string WeightStorageName(WeightStorage storage);
WeightStorage ParseWeightStorage(std::string_view name);

}  // namespace midscope
