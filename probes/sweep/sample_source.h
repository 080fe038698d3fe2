// SPDX-License-Identifier: MIT
// The samples that a process runs: all of them in order, or those assigned to it when several
// processes share the sweep.
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

namespace midscope {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // Returns the next sample to run; nullopt if all are finished. The call also marks the previous
  // sample as finished, and waits while other processes run samples that they may give back. Throws
  // Cancelled.
  virtual std::optional<int64_t> Next(const JobContext& context) = 0;
  // Returns a sample that exceeds this process's memory to the queue for another process, and ends
  // this source. Returns false, without effect, if there is no other process or the sample was
  // given back before.
  virtual bool GiveBack(int64_t /*sample*/) { return false; }
  // Returns the number of samples that other processes have finished; 0 if unknown.
  virtual int64_t done_elsewhere() const { return 0; }
};

// A source of the samples `first` to `samples` - 1 that are not finished; or of the given samples.
class OrderedSamples : public SampleSource {
 public:
  OrderedSamples(int64_t first, int64_t samples, const std::set<int64_t>& finished) {
    for (int64_t sample = first; sample < samples; ++sample) {
      if (!finished.contains(sample)) waiting_.push_back(sample);
    }
  }
  explicit OrderedSamples(const std::set<int64_t>& samples)
      : waiting_(samples.begin(), samples.end()) {}
  std::optional<int64_t> Next(const JobContext& /*context*/) override {
    if (waiting_.empty()) return std::nullopt;
    const int64_t sample = waiting_.front();
    waiting_.pop_front();
    return sample;
  }

 private:
  std::deque<int64_t> waiting_;
};

// The remaining samples, which rank 0 distributes over the processes (rank_group.h). Both rank 0's
// own work and the thread that serves the other ranks take samples from it.
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
  // Notes that a sample that was taken has finished or has been abandoned.
  void NoteRun() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
  }
  // Returns a sample to the queue, for another rank, which may have more memory.
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
  static constexpr std::chrono::milliseconds kTime{1};  // between checks for a returned sample

  std::mutex mutex_;
  std::deque<int64_t> samples_;
  std::set<int64_t> given_back_;
  int64_t running_ = 0;  // taken but not finished
  int workers_;          // number of ranks that have not ended
  bool has_own_ = false;
  std::atomic<int64_t> done_elsewhere_ = 0;
};

}  // namespace midscope
