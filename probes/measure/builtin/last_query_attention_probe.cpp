// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <utility>

#include "core/base/record_names.h"
#include "core/decoder/captures.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

class AttentionProbe : public Probe {
 public:
  explicit AttentionProbe(const ProbeInput& input)
      : config_(input.decoder.config()), attention_(config_) {}

  std::vector<Hook*> Hooks() override { return {&attention_}; }

  Record Finish(const RunResult&) override {
    return LastQueryAttentionRecord(config_, attention_.keys(), attention_.attention());
  }

 private:
  const ModelConfig& config_;
  LastQueryAttention attention_;
};

}  // namespace

Record LastQueryAttentionRecord(const ModelConfig& config, int64_t keys,
                                std::vector<float> attention) {
  Record record;
  record.name = kLastQueryAttention;
  record.axes = {CountedAxis("layer", config.layers), CountedAxis("head", config.heads),
                 CountedAxis("key", keys)};
  record.arrays = {{kLastQueryAttention,
                    {"layer", "head", "key"},
                    std::move(attention),
                    "",
                    "attention weights of the last prompt token over the prompt's tokens"}};
  record.signal = kLastQueryAttention;
  return record;
}

ProbeType LastQueryAttentionProbe() {
  ProbeType type;
  type.name = kLastQueryAttention;
  type.summary = "attention of the last prompt token over all tokens, every layer and head";
  type.source = "Ms-PoE, arXiv 2403.04797, Fig. 4; arXiv 2406.02536, App. E";
  type.departures = "public codes build the matrix of all rows; here the last row alone is made";
  type.limits =
      "heads are query heads: those that share keys (GQA) have rows of their own; rows are after "
      "rotation or ALiBi, as the model uses them";
  type.large = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<AttentionProbe>(input); };
  return type;
}

}  // namespace midscope
