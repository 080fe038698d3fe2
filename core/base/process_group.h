// SPDX-License-Identifier: MIT
// The processes ("ranks") that run the same program on parts of the same work. This class is a
// group of one process; probes/sweep/rank_group.h contains the group of an MPI job.
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
  // throw: the first rank that fails throws its own exception, the others AnotherRankFailed
  // (rank_group.h). If no rank fails but any is cancelled, all throw Cancelled.
  virtual void Agree(const std::function<void()>& work) { work(); }
  // Replace each value by its sum over all ranks. Sums are added in the order of ranks, so every
  // rank gets the same bits. All ranks must pass the same number of values.
  virtual void Sum(std::span<float> /*values*/) {}
  virtual void Sum(std::span<double> /*values*/) {}
};

}  // namespace midscope
