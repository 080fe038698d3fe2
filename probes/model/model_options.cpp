// SPDX-License-Identifier: MIT
#include "probes/model/model_options.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "core/model/model_text.h"

namespace midscope {

namespace {

Parameter DtypeParameter() {
  Parameter dtype = ChoiceParameter(
      "dtype",
      "in which precision the model computes; auto: on a CPU float32 for models of up to 1.5B "
      "parameters, beyond that bfloat16 where the CPU multiplies it; bfloat16 on a GPU; float16 "
      "with --device cuda:N or cpu:portable",
      {kAutoDtype, "float32", "bfloat16", "float16"});
  // Short names of dtypes that PyTorch users know.
  const std::vector<Parameter::OtherName> short_names = {
      {"fp32", "float32"}, {"bf16", "bfloat16"}, {"fp16", "float16"}};
  for (const Parameter::OtherName& other : short_names) {
    const auto& choices = dtype.choices;
    if (std::find(choices.begin(), choices.end(), other.choice) != choices.end())
      dtype.other_names.push_back(other);
  }
  return dtype;
}

bool HasOption(const OptionSet& options, const std::string& name) {
  const auto& all = options.descriptions();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

Parameter ProductsParameter() {
  Parameter products = ChoiceParameter(
      "products",
      "products with quantised weights; int16, int8: in whole numbers, as stored in the file, with "
      "inputs rounded to 16 or 8 bits in blocks of 32: faster, less exact than float, int16 by "
      "very little (core/MODELS.md)",
      ProductsNames());
  products.always_stated = false;
  return products;
}

}  // namespace

std::vector<Parameter> ModelNameOptions() {
  Parameter model = FileParameter(
      "model",
      "a .gguf file, a Hugging Face folder, org/name (or org/name@REVISION) for a model of the "
      "Hugging Face cache (see midscope fetch), or 'embedded' for the small model that "
      "`midscope fetch embedded` fetches; MODEL@init or MODEL@init:SEED: with random weights; "
      "'MODEL "
      "adapter=FOLDER:SCALE': as --adapter");
  model.required = true;
  Parameter adapter = TextParameter(
      "adapter",
      "a LoRA adapter that is added to MODEL's weights: a folder in PEFT's format or a .gguf file, "
      "FOLDER or FOLDER:SCALE; scale 0 is the model without it");
  adapter.always_stated = false;
  return InGroup("Model", {model, adapter});
}

void JoinAdapter(OptionSet& options) {
  if (!HasOption(options, "adapter") || options.Text("adapter").empty()) return;
  const std::string adapter = options.Text("adapter");
  if (options.Text("model").empty()) {
    throw UsageError(
        "option --adapter", "no MODEL is given beside it",
        "Give MODEL, or write it into the plan: model = \"MODEL adapter=" + adapter + "\"");
  }
  options.SetText("model", WithAdapterText(options.Text("model"), adapter));
  options.Reset("adapter");
}

std::vector<Parameter> ModelOptions() {
  Parameter device = TextParameter(
      "device",
      "what runs the layers: cpu, or a list such as cuda:0,cuda:1,cpu, the first layers on the "
      "first device; evenly, or by counts as in cuda:0=20,cpu=12. cpu:portable is the CPU by "
      "LibTorch's own operations, as a GPU would run it");
  device.default_value = std::string("cpu");
  std::vector<Parameter> options = ModelNameOptions();
  for (Parameter& option : InGroup(
           "Model",
           {DtypeParameter(), ProductsParameter(),
            ChoiceParameter(
                "weights",
                "where the weights are: as they lie in the file (stored: little memory, "
                "dequantised while they are used), or dequantised once to the dtype "
                "(expanded: fastest for small models); auto: expanded where that takes at "
                "most 1 GiB",
                {"auto", "stored", "expanded"}),
            WholeNumberParameter(
                "threads", "threads to compute with; 0: as many as the machine has", 0, 1024, 0),
            ChoiceParameter(
                "sliding-window",
                "off: every layer sees all keys, whatever window the model was made with "
                "(mistral, gemma, phi3, qwen)",
                {"on", "off"}),
            device})) {
    options.push_back(std::move(option));
  }
  return options;
}

Parameter BeyondContextOption() {
  return FlagParameter(
      "beyond-context",
      "also runs prompts that are longer than the context holds under the setting; "
      "their numbers are marked *: they show how a model fails on positions that it "
      "was not trained on");
}

Parameter OneDeviceOption() {
  Parameter device = TextParameter("device", "what computes: cpu, or one GPU, such as cuda:0");
  device.default_value = std::string("cpu");
  return device;
}

DeviceName ReadOneDevice(const OptionSet& options) {
  const Placement placement = ParsePlacement(options.Text("device"));
  if (placement.shares.size() == 1 && placement.shares.front().layers == 0)
    return placement.shares.front().device;
  throw UsageError("device " + options.Text("device"),
                   "gradients are computed with all layers on one device",
                   "Give one, such as cuda:0");
}

OpenRequest MakeOpenRequest(const std::string& model, const OptionSet& options) {
  return {.model = model,
          .dtype = options.Text("dtype"),
          .products = options.Text("products"),
          .threads = static_cast<int>(options.Integer("threads")),
          .weights = options.Text("weights"),
          .device = options.Text("device"),
          .sliding_window = options.Text("sliding-window") == "on",
          .beyond_context = HasOption(options, "beyond-context") && options.Flag("beyond-context")};
}

void SetOpenRequest(const OpenRequest& request, OptionSet& options) {
  options.SetText("dtype", request.dtype);
  options.SetText("products", request.products);
  options.SetText("threads", std::to_string(request.threads));
  options.SetText("weights", request.weights);
  options.SetText("device", request.device);
  options.SetText("sliding-window", request.sliding_window ? "on" : "off");
  if (!HasOption(options, "beyond-context")) return;
  options.Reset("beyond-context");
  if (request.beyond_context) options.SetText("beyond-context", "true");
}

DecoderOptions ReadDecoderOptions(const OptionSet& options) {
  return ReadDecoderOptions(MakeOpenRequest("", options));
}

DecoderOptions ReadDecoderOptions(const OpenRequest& request) {
  const bool by_rule = request.dtype == kAutoDtype;
  return {.dtype = by_rule ? kernels::Dtype::kFloat32 : ParseDtype(request.dtype),
          .threads = request.threads,
          .sliding_window = request.sliding_window,
          .beyond_context = request.beyond_context,
          .weights = ParseWeightStorage(request.weights),
          .products = ParseProducts(request.products),
          .placement = ParsePlacement(request.device),
          .auto_dtype = by_rule};
}

Products ParseProducts(std::string_view name) {
  if (const auto found = FindProducts(name)) return *found;
  throw UsageError("products '" + std::string(name) + "'", "the arithmetic is unknown",
                   KnownWordsHint(name, ProductsNames()));
}

kernels::Dtype ParseDtype(std::string_view name) {
  for (const kernels::Dtype dtype : kDtypes) {
    if (DtypeName(dtype) == name) return dtype;
  }
  throw UsageError("dtype '" + std::string(name) + "'", "the precision is unknown",
                   KnownWordsHint(name, DtypeParameter().choices));
}

std::string WeightStorageName(WeightStorage storage) {
  switch (storage) {
    case WeightStorage::kAuto:
      return "auto";
    case WeightStorage::kStored:
      return "stored";
    case WeightStorage::kExpanded:
      return "expanded";
  }
  return "";
}

WeightStorage ParseWeightStorage(std::string_view name) {
  for (const WeightStorage storage :
       {WeightStorage::kAuto, WeightStorage::kStored, WeightStorage::kExpanded}) {
    if (WeightStorageName(storage) == name) return storage;
  }
  throw UsageError("weights '" + std::string(name) + "'", "the storage is unknown",
                   KnownWordsHint(name, {"auto", "stored", "expanded"}));
}

}  // namespace midscope
