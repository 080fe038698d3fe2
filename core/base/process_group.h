// SPDX-License-Identifier: MIT
// The processes ("ranks") that run the same program on parts of the same work. This class is the
// group of one process; probes/sweep/rank_group.h has that of an MPI job.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace midscope {

class ProcessGroup {
 public:
  ProcessGroup() = default;
  virtual ~ProcessGroup() = default;
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  virtual int64_t rank() const { return 0; }
  virtual int64_t size() const { return 1; }
  // Runs `work` on every rank; returns when all have finished. If it throws on any rank, all ranks
  // throw: the first one that fails its own exception, the others AnotherRankFailed
  // (rank_group.h); if no rank fails, but any is cancelled, all throw Cancelled.
  virtual void Agree(const std::function<void()>& work) { work(); }
  // Replace the values by their sums over all ranks, added in the order of ranks: the same bits on
  // every rank. All ranks must call it with the same number of values.
  virtual void Sum(std::span<float> /*values*/) {}
  virtual void Sum(std::span<double> /*values*/) {}
};

}  // namespace midscope
