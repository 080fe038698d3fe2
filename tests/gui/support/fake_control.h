// SPDX-License-Identifier: MIT
// Controls the fake engine from a test: gates block a call until the test releases it, calls can
// fail, and runs are recorded.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/intervention/intervention.h"
#include "probes/engine/engine.h"

namespace midscope {

// State shared by the test and the engine's thread.
class FakeControl {
 public:
  // While held, what-ifs (comparisons, ...) block inside the call until they are released or
  // cancelled.
  void HoldWhatIfs(bool hold);
  void HoldComparisons(bool hold);
  void HoldCaptureRuns(bool hold);
  void HoldPrompts(bool hold);
  void HoldScans(bool hold);
  void HoldFirstPrompts(bool hold);  // searches for channels, after the first prompt
  void HoldSearches(bool hold);      // ... before the trials
  void HoldTrials(bool hold);        // ... after the first example
  void HoldGeneration(bool hold);
  // Makes every run of a setting that scales this channel fail, as if the model had no such
  // channel.
  void RefuseChannel(int64_t channel);
  // Makes the engine ignore the cancel flag: calls block until they are released.
  void IgnoreCancel(bool ignore);
  // Makes what-ifs return the score map and hidden channels, as if all layers were cached.
  void LetWhatIfsFollow(bool follow);
  // Makes what-ifs report this number of finished layers before the gate (0: no report; kLayers:
  // the complete place).
  void TellOfLayers(int64_t layers_done);
  void FailNextCaptureRun(const std::string& why);
  // Sets the seconds that capture runs report; initially 0.
  void ClaimRunSeconds(double seconds);
  double claimed_seconds() const;

  // Waits until `count` what-ifs have begun. Returns false after ten seconds.
  bool WaitForWhatIfsBegun(size_t count);
  // The interventions of all what-ifs begun, in order.
  std::vector<Intervention> what_ifs() const;
  size_t comparisons() const;
  // Number of capture runs begun.
  size_t capture_runs() const;
  // All scans begun, in order.
  std::vector<ScanRequest> scans() const;
  // All searches for channels begun, in order.
  std::vector<ChannelSearchRequest> searches() const;
  // All requests for text begun, in order.
  std::vector<GenerateRequest> generations() const;
  bool what_ifs_follow() const;
  int64_t told_layers() const;

 private:
  friend class FakeEngine;
  void Hold(bool FakeControl::*gate, bool hold);
  void WaitAtGate(bool FakeControl::*gate, const JobContext& context);
  void CheckSetting(const Intervention& intervention) const;
  void NoteScan(const ScanRequest& request);
  void NoteGeneration(const GenerateRequest& request);
  void NoteSearch(const ChannelSearchRequest& request);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool hold_what_ifs_ = false;
  bool hold_comparisons_ = false;
  bool hold_capture_runs_ = false;
  bool hold_prompts_ = false;
  bool hold_scans_ = false;
  bool hold_first_prompts_ = false;
  bool hold_searches_ = false;
  bool hold_trials_ = false;
  bool hold_generation_ = false;
  int64_t refused_channel_ = -1;
  bool ignore_cancel_ = false;
  bool what_ifs_follow_ = false;
  int64_t told_layers_ = 0;
  double claimed_seconds_ = 0;
  std::string capture_run_failure_;
  std::vector<Intervention> what_ifs_;
  size_t comparisons_ = 0;
  size_t capture_runs_ = 0;
  std::vector<ScanRequest> scans_;
  std::vector<ChannelSearchRequest> searches_;
  std::vector<GenerateRequest> generations_;
};

}  // namespace midscope
