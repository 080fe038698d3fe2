// SPDX-License-Identifier: MIT
// An engine without a model: it returns planted numbers, and its FakeControl can block calls or
// make them fail.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/terms/terms.h"
#include "probes/base/record_origin.h"
#include "probes/engine/engine.h"
#include "tests/gui/support/fake_control.h"

namespace midscope {

// Scales one channel by `factor` in a few layers of the fake model.
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
  // Makes one prompt per place as SetPrompt does, with the text of the request. Throws if the text
  // contains "bad".
  std::vector<Record> Preview(const PromptRequest& prompt_request) const override;
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override;
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override;
  Record Compare(const CompareRequest& request, const std::function<void(const Record&)>& partial,
                 const JobContext& context) override;
  // The effect of an item is its index. Before the gate, only the first half of the items is
  // reported.
  Record Scan(const ScanRequest& request, const std::function<void(const Record&)>& partial,
              const JobContext& context) override;
  // Ranks channels 3, 8, 5, the last without curves. Before the gate, the ranking is reported;
  // after it, the trials, if the request validates: the best is channel 8 with factor -0.5.
  std::vector<Record> SearchChannels(const ChannelSearchRequest& request,
                                     const std::function<void(const Record&)>& partial,
                                     const JobContext& context) override;
  // As above, with the channels in reverse order.
  Record PromptChannels(const PromptChannelsRequest& request, const JobContext& context) override;
  // The attention on the gold is the score of the head plus the place. Before the gate of scans,
  // half of the samples are reported.
  std::vector<Record> ProbeSamples(const ProbeSamplesRequest& request,
                                   const std::function<void(const Record&)>& partial,
                                   const JobContext& context) override;
  // Generates "word0 word1 ..."; if the setting's strength differs from that of none, the second
  // word is "other". Before the gate, the first half is reported. The text has four words and then
  // an end token.
  Record Generate(const GenerateRequest& request, const std::function<void(const Record&)>& partial,
                  const JobContext& context) override;
  Record MeasureLearnedPositions(const JobContext& /*context*/) const override {
    throw UsageError("model", "it has no embeddings of positions");
  }
  Provenance Describe() const override;

  static ModelConfig Config();
  // Adds provenance to the record as a real engine does.
  void Stamp(const Intervention& intervention, std::optional<size_t> place, Record& record) const;

  // The strength of a setting, which all planted numbers depend on.
  static double Strength(const Intervention& intervention);
  static float Attention(int64_t layer, int64_t head, int64_t key, int64_t place, double strength);
  // Whether the score counts the key (by weights that differ from those of Attention()), and the
  // score's threshold.
  static bool IsCounted(int64_t layer, int64_t head, int64_t key, double strength);
  static double Threshold(double strength);
  static float Score(int64_t layer, int64_t head, double strength);
  // The rank of the answer's only token among the next tokens; 0: the most likely.
  static constexpr int64_t kAnswerToken = 7;
  static int64_t AnswerRank(double strength);
  static double NextProbability(int64_t rank);
  static double AnswerNll(int64_t place, double strength);

 private:
  // The records that a what-if returns for its place; in a partial reply, layers from layers_done
  // on are NaN.
  std::vector<Record> OfPlace(const WhatIfRequest& request, int64_t layers_done) const;

  std::shared_ptr<FakeControl> control_;
  std::vector<int64_t> places_;
  RecordOrigin origin_;  // of the prompt request
};

}  // namespace midscope
