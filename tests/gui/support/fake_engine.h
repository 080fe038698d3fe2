// SPDX-License-Identifier: MIT
// An engine without a model: planted numbers, and gates that hold a call until the test lets go.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "probes/base/record_origin.h"
#include "probes/engine/engine.h"

namespace midscope {

// What the test and the engine's thread share.
class FakeControl {
 public:
  // While held, what-ifs (comparisons) wait inside the call until released or cancelled.
  void HoldWhatIfs(bool hold);
  void HoldComparisons(bool hold);
  void HoldCaptureRuns(bool hold);
  void HoldPrompts(bool hold);
  // Every run of a setting that scales this channel fails, as of a model that has no such channel.
  void RefuseChannel(int64_t channel);
  // An engine that does not look at the cancel flag: calls wait for the release alone.
  void IgnoreCancel(bool ignore);
  // What-ifs bring score map and hidden channels along, as where every layer is kept.
  void LetWhatIfsFollow(bool follow);
  // Before they wait at the gate, what-ifs tell of that many layers (0: of nothing, kLayers: of the
  // place as a whole).
  void TellOfLayers(int64_t layers_done);
  void FailNextCaptureRun(const std::string& why);

  // Waits until that many what-ifs have begun; false after ten seconds.
  bool WaitForWhatIfsBegun(size_t count);
  // The interventions of all what-ifs begun, in order.
  std::vector<Intervention> what_ifs() const;
  size_t comparisons() const;
  bool what_ifs_follow() const;
  int64_t told_layers() const;

 private:
  friend class FakeEngine;
  void WaitAtGate(bool FakeControl::*gate, const JobContext& context);
  void CheckSetting(const Intervention& intervention) const;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool hold_what_ifs_ = false;
  bool hold_comparisons_ = false;
  bool hold_capture_runs_ = false;
  bool hold_prompts_ = false;
  int64_t refused_channel_ = -1;
  bool ignore_cancel_ = false;
  bool what_ifs_follow_ = false;
  int64_t told_layers_ = 0;
  std::string capture_run_failure_;
  std::vector<Intervention> what_ifs_;
  size_t comparisons_ = 0;
};

// Another factor of one channel, in a few layers of the fake model.
inline Intervention Factor(double factor) {
  Intervention intervention;
  intervention.channels = {{100, factor, {false, {{1, 3}}}, ChannelRows::kAnswer, 1}};
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
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override;
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override;
  Record Compare(const CompareRequest& request, const std::function<void(const Record&)>& partial,
                 const JobContext& context) override;
  Provenance Describe() const override;

  // Says on the record what made it, as an engine does.
  void Stamp(const Intervention& intervention, std::optional<size_t> place, Record& record) const;

  // The planted numbers.
  static double Strength(const Intervention& intervention);
  static float Attention(int64_t layer, int64_t head, int64_t key, int64_t place, double strength);
  // Whether the key is counted, from weights that Attention() does not give, and the threshold.
  static bool IsCounted(int64_t layer, int64_t head, int64_t key, double strength);
  static double Threshold(double strength);
  static float Score(int64_t layer, int64_t head, double strength);
  static double AnswerNll(int64_t place, double strength);

 private:
  // What a what-if returns of its place; of a part, NaN from layers_done on.
  std::vector<Record> OfPlace(const WhatIfRequest& request, int64_t layers_done) const;

  std::shared_ptr<FakeControl> control_;
  std::vector<int64_t> places_;
  RecordOrigin origin_;  // of the prompt request
};

}  // namespace midscope
