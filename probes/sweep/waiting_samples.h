// SPDX-License-Identifier: MIT
// The samples of a sweep that rank 0 distributes over the processes (rank_group.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "core/base/job.h"
#include "probes/sweep/sample_source.h"

namespace midscope {

// The remaining samples, on rank 0; both its own work and the serving thread take them.
class WaitingSamples : public SampleSource {
 public:
  WaitingSamples(const std::set<int64_t>& samples, int ranks)
      : samples_(samples.begin(), samples.end()), workers_(ranks) {}

  // Returns the next sample for rank 0's own work.
  std::optional<int64_t> Next(const JobContext& context) override {
    if (std::exchange(has_own_, false)) NoteRun();
    while (true) {
      context.ThrowIfCancelled();
      if (const std::optional<int64_t> sample = Take()) {
        has_own_ = true;
        return sample;
      }
      if (AllDone()) return std::nullopt;
      std::this_thread::sleep_for(kTime);
    }
  }
  bool GiveBack(int64_t sample) override {
    if (!TakeBack(sample)) return false;
    has_own_ = false;
    return true;
  }
  int64_t done_elsewhere() const override { return done_elsewhere_; }
  void EndOwnWork(bool ended_early) {
    if (has_own_) NoteRun();
    if (ended_early) Clear();
    EndWork();
  }

  std::optional<int64_t> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (samples_.empty()) return std::nullopt;
    const int64_t sample = samples_.front();
    samples_.pop_front();
    ++running_;
    return sample;
  }
  // Whether no sample is waiting or can be given back.
  bool AllDone() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return samples_.empty() && running_ == 0;
  }
  // Notes that a sample that was taken has finished or been abandoned.
  void NoteRun() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
  }
  // Requires another rank, for which the sample may not be too large.
  bool TakeBack(int64_t sample) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (workers_ < 2 || !given_back_.insert(sample).second) return false;
    samples_.push_front(sample);
    --running_;
    return true;
  }
  void EndWork() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --workers_;
  }
  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    samples_.clear();
  }
  void NoteDoneElsewhere() { ++done_elsewhere_; }

 private:
  static constexpr std::chrono::milliseconds kTime{1};  // between looks for a returned sample

  std::mutex mutex_;
  std::deque<int64_t> samples_;
  std::set<int64_t> given_back_;
  int64_t running_ = 0;  // taken but not finished
  int workers_;          // number of ranks that have not ended
  bool has_own_ = false;
  std::atomic<int64_t> done_elsewhere_ = 0;
};

}  // namespace midscope
