// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <utility>

#include "core/base/record_names.h"
#include "core/decoder/captures.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

class CountedProbe : public Probe {
 public:
  explicit CountedProbe(const ProbeInput& input)
      : config_(input.decoder.config()),
        threshold_(AwarenessThresholdOf(input)),
        awareness_(config_) {}

  std::vector<Hook*> Hooks() override { return {&awareness_}; }

  Record Finish(const RunResult&) override {
    return CountedKeysRecord(config_, awareness_.keys(), threshold_,
                             awareness_.counted_keys(threshold_));
  }

 private:
  const ModelConfig& config_;
  kernels::AwarenessThreshold threshold_;
  PositionAwareness awareness_;
};

}  // namespace

Record CountedKeysRecord(const ModelConfig& config, int64_t keys,
                         const kernels::AwarenessThreshold& threshold,
                         std::vector<uint8_t> counted) {
  Record record;
  record.name = kCountedKeys;
  record.axes = {CountedAxis("layer", config.layers), CountedAxis("head", config.heads),
                 CountedAxis("key", keys)};
  record.arrays = {{kCountedKeys,
                    {"layer", "head", "key"},
                    std::move(counted),
                    "",
                    "whether the weight from the last prompt token, before rotation, is over the "
                    "threshold of position_awareness"}};
  record.attributes["threshold"] = ThresholdText(threshold);
  record.attributes["alpha"] = threshold.alpha;
  record.attributes[kThresholdWeight] = static_cast<double>(threshold.Weight(keys));
  record.signal = kCountedKeys;
  return record;
}

ProbeType CountedKeysProbe() {
  ProbeType type;
  type.name = kCountedKeys;
  type.summary = "the keys that Ms-PoE's position-awareness score counts, every layer and head";
  type.source = "Ms-PoE, arXiv 2403.04797, Eq. 1";
  type.departures = "as position_awareness";
  type.limits =
      "of q and k before rotation: a counted key may be below the threshold in "
      "last_query_attention, which is after it; --awareness-alpha of position_awareness";
  type.large = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<CountedProbe>(input); };
  return type;
}

}  // namespace midscope
