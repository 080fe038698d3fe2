// SPDX-License-Identifier: MIT
// A test's control of the fake engine: gates that hold a call until the test releases it, failures,
// the runs that were made.
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

// State that the test and the engine's thread share.
class FakeControl {
 public:
  // While held, what-ifs (comparisons) wait inside the call until released or cancelled.
  void HoldWhatIfs(bool hold);
  void HoldComparisons(bool hold);
  void HoldCaptureRuns(bool hold);
  void HoldPrompts(bool hold);
  void HoldScans(bool hold);
  void HoldSearches(bool hold);
  void HoldGeneration(bool hold);
  // Every run of a setting that scales this channel fails, as of a model that has no such channel.
  void RefuseChannel(int64_t channel);
  // An engine that does not look at the cancel flag: calls wait for the release alone.
  void IgnoreCancel(bool ignore);
  // What-ifs bring score map and hidden channels along, as where every layer is kept.
  void LetWhatIfsFollow(bool follow);
  // Before they wait at the gate, what-ifs report that many layers (0: nothing, kLayers: the place
  // as a whole).
  void TellOfLayers(int64_t layers_done);
  void FailNextCaptureRun(const std::string& why);
  // The seconds that capture runs report; 0 until then.
  void ClaimRunSeconds(double seconds);
  double claimed_seconds() const;

  // Waits until that many what-ifs have begun; false after ten seconds.
  bool WaitForWhatIfsBegun(size_t count);
  // The interventions of all what-ifs begun, in order.
  std::vector<Intervention> what_ifs() const;
  size_t comparisons() const;
  // Capture runs begun.
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
  bool hold_searches_ = false;
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
