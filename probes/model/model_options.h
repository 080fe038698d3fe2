// SPDX-License-Identifier: MIT
// Options for opening a model, shared by all commands and the window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/decoder/decoder.h"

namespace midscope {

// The value of option --dtype that leaves the choice to the rule in core/compute/arithmetic.h.
inline constexpr const char* kAutoDtype = "auto";

struct OpenRequest {
  std::string model = "embedded";  // name or path (core/model/model_text.h)
  std::string dtype = kAutoDtype;
  std::string products = "float";  // "int16", "int8"
  int threads = 0;
  std::string weights = "auto";  // "stored", "expanded"
  std::string device = "cpu";    // device or layers per device (core/compute/placement.h)
  bool sliding_window = true;    // DecoderOptions::sliding_window
  bool beyond_context = false;   // DecoderOptions::beyond_context
};

// Returns the options model (positional on a command line), adapter, dtype, products, weights,
// threads, sliding-window and device.
std::vector<Parameter> ModelOptions();

// Returns the options model and adapter, for commands that need only the model's name.
std::vector<Parameter> ModelNameOptions();

// Moves the option adapter, if it exists and is set, into the text of the option model. Throws
// Error (usage) if no model is set, or its text has an adapter already.
void JoinAdapter(OptionSet& options);

// Returns the option beyond-context, for commands that run prompts. ReadDecoderOptions and
// MakeOpenRequest read it if the options include it.
Parameter BeyondContextOption();

// Returns the option device for commands that compute gradients, and the value of that option.
// These commands run on one device: reading throws Error (usage) for an unknown device and for
// several; CheckDevices (core/compute/device_facts.h) checks whether the machine has the device.
Parameter OneDeviceOption();
DeviceName ReadOneDevice(const OptionSet& options);

// Returns the engine's request to open `model`, with the other values taken from `options`.
OpenRequest MakeOpenRequest(const std::string& model, const OptionSet& options);

// Sets `options` so that MakeOpenRequest would return `request`.
void SetOpenRequest(const OpenRequest& request, OptionSet& options);

// Returns the decoder options that these command-line options describe; the second form converts an
// engine's request to open a model. Throws Error (usage).
DecoderOptions ReadDecoderOptions(const OptionSet& options);
DecoderOptions ReadDecoderOptions(const OpenRequest& request);

// Parses a name that ProductsName returns. Throws Error (usage).
Products ParseProducts(std::string_view name);

// All dtypes in which a model can be run.
inline constexpr kernels::Dtype kDtypes[] = {kernels::Dtype::kFloat32, kernels::Dtype::kBFloat16,
                                             kernels::Dtype::kFloat16};
// One dtype of each size in bytes, for tables of memory.
inline constexpr kernels::Dtype kDtypeSizes[] = {kernels::Dtype::kFloat32,
                                                 kernels::Dtype::kBFloat16};
// Parses a name that DtypeName returns. Throws Error (usage).
kernels::Dtype ParseDtype(std::string_view name);

// Convert to and from "auto", "stored" and "expanded". Parsing throws Error (usage).
std::string WeightStorageName(WeightStorage storage);
WeightStorage ParseWeightStorage(std::string_view name);

}  // namespace midscope
