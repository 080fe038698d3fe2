// SPDX-License-Identifier: MIT
#include "probes/cli/text/model_tables.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/compute/arithmetic.h"
#include "probes/cli/console/text_table.h"
#include "probes/model/memory_estimate.h"
#include "probes/model/model_options.h"
#include "probes/model/tensor_library.h"

namespace midscope::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Need {
  int64_t weights = 0;
  int64_t prompt = 0;
  bool Fits(const DeviceFacts& device) const { return weights + prompt <= device.free_bytes; }
};

Need NeedOn(const DeviceFacts& device, const ModelConfig& config, kernels::Dtype dtype,
            int64_t tokens) {
  const MemoryEstimate memory = EstimateMemory(config, dtype, tokens);
  const WeightStorage storage = ResolveStorage(WeightStorage::kAuto, config, dtype);
  return {WeightBytes(memory, storage, Placement{{DeviceShare{device.device}}}),
          memory.trace_bytes + memory.attention_bytes};
}

std::string Gigabytes(int64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / 1e9);
}

bool IsGpu(const DeviceFacts& device) { return device.device.kind == DeviceKind::kCuda; }

}  // namespace

Json DevicesJson(const std::vector<DeviceFacts>& devices, const ModelConfig& config,
                 const std::vector<int64_t>& lengths) {
  Json all = Json::array();
  for (const DeviceFacts& device : devices) {
    Json memory = Json::array();
    for (const kernels::Dtype dtype : kDtypeSizes) {
      for (const int64_t tokens : lengths) {
        const Need need = NeedOn(device, config, dtype, tokens);
        memory.push_back({{"dtype", DtypeName(dtype)},
                          {"tokens", tokens},
                          {"weight_bytes", need.weights},
                          {"prompt_bytes", need.prompt},
                          {"fits", need.Fits(device)}});
      }
    }
    const std::string& capability = device.compute_capability;
    all.push_back({{"device", DeviceText(device.device)},
                   {"name", device.name},
                   {"compute_capability", capability.empty() ? Json(nullptr) : Json(capability)},
                   {"total_bytes", device.total_bytes},
                   {"free_bytes", device.free_bytes},
                   {"memory", memory}});
  }
  return all;
}

std::string DevicesText(const std::vector<DeviceFacts>& devices, const ModelConfig& config,
                        const std::vector<int64_t>& lengths) {
  const int64_t tokens = *std::max_element(lengths.begin(), lengths.end());
  TextTable table(
      {"device", "name", "GB free", "of GB", "dtype", "weights GB", "prompt GB", "fits"});
  for (const DeviceFacts& device : devices) {
    std::string name = device.name;
    if (IsGpu(device)) name += " (compute capability " + device.compute_capability + ")";
    for (const kernels::Dtype dtype : kDtypeSizes) {
      const Need need = NeedOn(device, config, dtype, tokens);
      table.Add({DeviceText(device.device), name, Gigabytes(device.free_bytes),
                 Gigabytes(device.total_bytes), DtypeName(dtype), Gigabytes(need.weights),
                 Gigabytes(need.prompt), need.Fits(device) ? "yes" : "no"});
    }
  }
  std::string text = fmt::format(
      "\nDevices, and what every layer and a prompt of {} tokens take there (as above: trace and "
      "last-query attention):\n{}",
      tokens, table.Text());
  if (std::none_of(devices.begin(), devices.end(), IsGpu)) {
    LoadTensorLibrary();
    const MissingGpu missing = WhyGpuIsMissing();
    text += "no GPU: " + missing.reason + (missing.remedy.empty() ? "" : ". " + missing.remedy);
    text += '\n';
  }
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json DistanceJson(const ArithmeticDistance& distance) {
  return {{"prompts", distance.prompts},
          {"largest_logit_difference", distance.largest_logit},
          {"mean_logit_difference", distance.mean_logit},
          {"mean_answer_nll_difference", distance.answer_nats},
          {"same_first_token", distance.same_first}};
}

// Returns a line with the measured deviation of an arithmetic from float32.
std::string DistanceText(std::string_view name, const ArithmeticDistance& distance) {
  return fmt::format(
      "\n{:<16}  {} differs from float32 by {:.3g} in the largest logit, {:.3g} on average, {:.3g} "
      "nats in an answer; the same most likely token in {} of {} prompts",
      "", name, distance.largest_logit, distance.mean_logit, distance.answer_nats,
      distance.same_first, distance.prompts);
}

}  // namespace

nlohmann::ordered_json DtypesJson(const ModelFacts& facts) {
  Json json = {{"auto", DtypeName(AutoDtype(facts.config, Placement{}))}};
  for (const auto& [arithmetic, distance] : facts.distances)
    json[ArithmeticName(arithmetic) + "_to_float32"] = DistanceJson(distance);
  return json;
}

std::string DtypesText(const ModelFacts& facts) {
  std::string text = DtypeName(AutoDtype(facts.config, Placement{})) + " on this CPU";
  for (const auto& [arithmetic, distance] : facts.distances) {
    const bool products = arithmetic.products != Products::kFloat;
    text += DistanceText((products ? "--products " : "") + ArithmeticName(arithmetic), distance);
  }
  return text;
}

}  // namespace midscope::cli
