// SPDX-License-Identifier: MIT
// An engine without a model: planted numbers, and calls that its FakeControl holds or fails.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/terms/terms.h"
#include "probes/base/record_origin.h"
#include "probes/engine/engine.h"
#include "tests/gui/support/fake_control.h"

namespace midscope {

// Another factor of one channel, in a few layers of the fake model.
inline Intervention Factor(double factor) {
  Intervention intervention;
  ChannelScaling scaling;
  scaling.channel = 100;
  scaling.factor = factor;
  scaling.layers = {false, {{1, 3}}};
  intervention.Add(TermOf(std::move(scaling)));
  return intervention;
}

class FakeEngine : public Engine {
 public:
  static constexpr int64_t kLayers = 6;
  static constexpr int64_t kHeads = 4;
  static constexpr int64_t kKeyValueHeads = 2;
  static constexpr int64_t kHidden = 128;
  static constexpr int64_t kTokens = 120;

  explicit FakeEngine(std::shared_ptr<FakeControl> control) : control_(std::move(control)) {}

  ModelSummary Open(const OpenRequest& request, const JobContext& context) override;
  std::vector<Record> SetPrompt(const PromptRequest& prompt_request,
                                const JobContext& context) override;
  // One prompt per place as SetPrompt makes them, whose text is the request's. A text with "bad" in
  // it is refused.
  std::vector<Record> Preview(const PromptRequest& prompt_request) const override;
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override;
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override;
  Record Compare(const CompareRequest& request, const std::function<void(const Record&)>& partial,
                 const JobContext& context) override;
  // Every item's effect is its number; before the gate only those of the first half are reported.
  Record Scan(const ScanRequest& request, const std::function<void(const Record&)>& partial,
              const JobContext& context) override;
  // Channels 3, 8, 5 in this order, the last without curves; before the gate the ranking is
  // reported, after it the trials are there, where the request validates: channel 8 by -0.5 is the
  // best.
  std::vector<Record> SearchChannels(const ChannelSearchRequest& request,
                                     const std::function<void(const Record&)>& partial,
                                     const JobContext& context) override;
  // As above, the channels in reverse order.
  Record PromptChannels(const PromptChannelsRequest& request, const JobContext& context) override;
  // "word0 word1 ..."; under a setting of another strength than none's the second word is "other".
  // Before the gate the first half is reported. The first four words and then an end.
  Record Generate(const GenerateRequest& request, const std::function<void(const Record&)>& partial,
                  const JobContext& context) override;
  Provenance Describe() const override;

  static ModelConfig Config();
  // Adds the provenance to the record, as an engine does.
  void Stamp(const Intervention& intervention, std::optional<size_t> place, Record& record) const;

  // The planted numbers.
  static double Strength(const Intervention& intervention);
  static float Attention(int64_t layer, int64_t head, int64_t key, int64_t place, double strength);
  // Whether the key is counted, from weights that Attention() does not give, and the threshold.
  static bool IsCounted(int64_t layer, int64_t head, int64_t key, double strength);
  static double Threshold(double strength);
  static float Score(int64_t layer, int64_t head, double strength);
  // The rank of the answer's only token among the next ones; 0: the likeliest.
  static constexpr int64_t kAnswerToken = 7;
  static int64_t AnswerRank(double strength);
  static double NextProbability(int64_t rank);
  static double AnswerNll(int64_t place, double strength);

 private:
  // The records that a what-if returns for its place; in a part, NaN from layers_done on.
  std::vector<Record> OfPlace(const WhatIfRequest& request, int64_t layers_done) const;

  std::shared_ptr<FakeControl> control_;
  std::vector<int64_t> places_;
  RecordOrigin origin_;  // of the prompt request
};

}  // namespace midscope
