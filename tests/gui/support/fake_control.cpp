// SPDX-License-Identifier: MIT
#include "tests/gui/support/fake_control.h"

#include <chrono>

#include "core/base/error.h"
#include "tests/gui/support/fake_engine.h"

namespace midscope {
namespace {

constexpr auto kLongestWait = std::chrono::seconds(10);
// Interval at which a blocked call checks the cancel flag.
constexpr auto kPoll = std::chrono::milliseconds(2);

}  // namespace

void FakeControl::Hold(bool FakeControl::*gate, bool hold) {
  const std::lock_guard lock(mutex_);
  this->*gate = hold;
  changed_.notify_all();
}

void FakeControl::HoldWhatIfs(bool hold) { Hold(&FakeControl::hold_what_ifs_, hold); }

void FakeControl::HoldComparisons(bool hold) { Hold(&FakeControl::hold_comparisons_, hold); }

void FakeControl::HoldCaptureRuns(bool hold) { Hold(&FakeControl::hold_capture_runs_, hold); }

void FakeControl::HoldPrompts(bool hold) { Hold(&FakeControl::hold_prompts_, hold); }

void FakeControl::HoldScans(bool hold) { Hold(&FakeControl::hold_scans_, hold); }

void FakeControl::HoldFirstPrompts(bool hold) { Hold(&FakeControl::hold_first_prompts_, hold); }

void FakeControl::HoldSearches(bool hold) { Hold(&FakeControl::hold_searches_, hold); }

void FakeControl::HoldTrials(bool hold) { Hold(&FakeControl::hold_trials_, hold); }

void FakeControl::HoldGeneration(bool hold) { Hold(&FakeControl::hold_generation_, hold); }

void FakeControl::NoteGeneration(const GenerateRequest& request) {
  const std::lock_guard lock(mutex_);
  generations_.push_back(request);
}

std::vector<GenerateRequest> FakeControl::generations() const {
  const std::lock_guard lock(mutex_);
  return generations_;
}

void FakeControl::NoteSearch(const ChannelSearchRequest& request) {
  const std::lock_guard lock(mutex_);
  searches_.push_back(request);
}

std::vector<ChannelSearchRequest> FakeControl::searches() const {
  const std::lock_guard lock(mutex_);
  return searches_;
}

void FakeControl::NoteScan(const ScanRequest& request) {
  const std::lock_guard lock(mutex_);
  scans_.push_back(request);
}

std::vector<ScanRequest> FakeControl::scans() const {
  const std::lock_guard lock(mutex_);
  return scans_;
}

void FakeControl::RefuseChannel(int64_t channel) {
  const std::lock_guard lock(mutex_);
  refused_channel_ = channel;
}

void FakeControl::CheckSetting(const Intervention& intervention) const {
  const std::lock_guard lock(mutex_);
  for (const ChannelScaling& scaling : intervention.All<ChannelScaling>()) {
    if (scaling.channel != refused_channel_) continue;
    throw UsageError("channel " + std::to_string(scaling.channel), "the model has no such channel",
                     "It has channels 0 to " + std::to_string(FakeEngine::kHidden - 1));
  }
}

void FakeControl::IgnoreCancel(bool ignore) {
  const std::lock_guard lock(mutex_);
  ignore_cancel_ = ignore;
}

void FakeControl::LetWhatIfsFollow(bool follow) {
  const std::lock_guard lock(mutex_);
  what_ifs_follow_ = follow;
}

void FakeControl::TellOfLayers(int64_t layers_done) {
  const std::lock_guard lock(mutex_);
  told_layers_ = layers_done;
}

void FakeControl::ClaimRunSeconds(double seconds) {
  const std::lock_guard lock(mutex_);
  claimed_seconds_ = seconds;
}

double FakeControl::claimed_seconds() const {
  const std::lock_guard lock(mutex_);
  return claimed_seconds_;
}

int64_t FakeControl::told_layers() const {
  const std::lock_guard lock(mutex_);
  return told_layers_;
}

bool FakeControl::what_ifs_follow() const {
  const std::lock_guard lock(mutex_);
  return what_ifs_follow_;
}

void FakeControl::FailNextCaptureRun(const std::string& why) {
  const std::lock_guard lock(mutex_);
  capture_run_failure_ = why;
}

bool FakeControl::WaitForWhatIfsBegun(size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kLongestWait, [&] { return what_ifs_.size() >= count; });
}

std::vector<Intervention> FakeControl::what_ifs() const {
  const std::lock_guard lock(mutex_);
  return what_ifs_;
}

size_t FakeControl::comparisons() const {
  const std::lock_guard lock(mutex_);
  return comparisons_;
}

size_t FakeControl::capture_runs() const {
  const std::lock_guard lock(mutex_);
  return capture_runs_;
}

void FakeControl::WaitAtGate(bool FakeControl::*gate, const JobContext& context) {
  std::unique_lock lock(mutex_);
  while (this->*gate && (ignore_cancel_ || !context.cancelled())) changed_.wait_for(lock, kPoll);
  if (!ignore_cancel_) context.ThrowIfCancelled();
}

}  // namespace midscope
