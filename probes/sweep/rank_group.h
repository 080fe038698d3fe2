// SPDX-License-Identifier: MIT
// The processes ("ranks") that share a sweep or tuning: only this process, or the processes of an
// MPI job. A sweep's samples are assigned one by one to free ranks; each rank writes its finished
// samples to separate files (data/sweep/rank_parts.h), so that only sample numbers are sent between
// processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/process_group.h"
#include "probes/sweep/sample_source.h"

namespace midscope {

// Thrown if another rank fails. The failed rank reports its error; this rank only ends.
class AnotherRankFailed : public Error {
 public:
  explicit AnotherRankFailed(ErrorKind kind)
      : Error(kind, "this run", "another process of it failed",
              "The same command with --resume continues") {}
};

// The ranks that share the work. Agree prefixes an Error of a rank's work by "rank 1 on HOST: ".
class RankGroup : public ProcessGroup {
 public:
  // Ends the group after this rank has printed its results or its error. Returns once all ranks
  // have called it, so that the launcher, which ends the job with the first rank that fails, does
  // not end the rank that reports the error. `failed`: whether this rank has an error that the
  // others do not have; then returns at once. Without this call, the launcher ends the job.
  virtual void Leave(bool failed) = 0;
  // Whether the last error was thrown on every rank, so that all ranks can continue.
  virtual bool all_know() const = 0;
  // Waits until all ranks have called it.
  virtual void Barrier() = 0;
  // Returns rank 0's argument on every rank.
  virtual int64_t FromRankZero(int64_t number) = 0;
  virtual std::string FromRankZero(const std::string& text) = 0;
  // Returns a flag for cancelling this rank's work. During later calls of Agree, it is set soon
  // after `cancel` is set or another rank's work has thrown. Call it once.
  virtual const std::atomic<bool>* StopFlag(const std::atomic<bool>* cancel) = 0;
  // Runs `work` on every rank with a source of samples, until none is left; `samples` is used on
  // rank 0 only. Returns when all ranks have finished. An exception in a rank's work is rethrown on
  // that rank; the other ranks finish their running samples, then throw Cancelled or
  // AnotherRankFailed.
  virtual void Share(const std::set<int64_t>& samples,
                     const std::function<void(SampleSource& source)>& work) = 0;
};

// Returns the group of mpirun's or srun's job if this program was built with MPI, else a group of
// this process alone. Throws Error (usage) if several processes were started, but the program was
// built without MPI or srun did not connect them: each would run all of the work. Call it once.
std::unique_ptr<RankGroup> JoinRankGroup();

// Returns the group of mpirun's or srun's job (mpi_rank_group.cpp).
std::unique_ptr<RankGroup> JoinMpi();

// Returns a group of this process alone.
std::unique_ptr<RankGroup> SingleRank();

// Number of processes according to environment variables of mpirun and srun; 1 without a launcher.
int64_t LaunchedProcesses();
// Number of this process among the launched processes, from 0 on.
int64_t LaunchedRank();

}  // namespace midscope
