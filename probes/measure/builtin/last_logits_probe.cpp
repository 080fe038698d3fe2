// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include "core/base/record_names.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

class LogitsProbe : public Probe {
 public:
  explicit LogitsProbe(const ProbeInput& input) : last_row_(input.prompt_tokens() - 1) {}

  Record Finish(const RunResult& result) override {
    const std::span<const float> logits = result.Logits(last_row_);
    Record record;
    record.name = kLastLogits;
    record.axes = {CountedAxis("vocabulary", result.vocabulary)};
    record.arrays = {{kLastLogits,
                      {"vocabulary"},
                      std::vector<float>(logits.begin(), logits.end()),
                      "",
                      "logits after the last prompt token, by token id"}};
    record.signal = kLastLogits;
    return record;
  }

 private:
  int64_t last_row_;
};

}  // namespace

ProbeType LastLogitsProbe() {
  ProbeType type;
  type.name = kLastLogits;
  type.summary = "all logits after the last prompt token";
  type.large = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<LogitsProbe>(input); };
  return type;
}

}  // namespace midscope
