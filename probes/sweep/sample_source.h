// SPDX-License-Identifier: MIT
// The samples that a process runs: all of them in order, or those assigned to it when several
// processes share the sweep.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "core/base/job.h"

namespace midscope {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // Returns the next sample to run; nullopt if all are finished. The call also marks the previous
  // sample as finished, and waits while other processes run samples that they may give back. Throws
  // Cancelled.
  virtual std::optional<int64_t> Next(const JobContext& context) = 0;
  // Gives a sample for which this process lacks memory to another process, and ends this source.
  // Returns false, without effect, if there is no other process or the sample was given back
  // before.
  virtual bool GiveBack(int64_t /*sample*/) { return false; }
  // Number of samples that other processes have finished; 0 if unknown.
  virtual int64_t done_elsewhere() const { return 0; }
};

// Returns samples `first`, ..., `samples` - 1 except the finished ones; or the given samples.
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

}  // namespace midscope
