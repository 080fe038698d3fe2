// SPDX-License-Identifier: MIT
// The processes ("ranks") that share a sweep: this one alone, or those of an MPI job. A sweep's
// samples are handed out one by one to whoever is free; each rank keeps what it finished in files
// of its own (data/sweep/rank_parts.h), so that nothing but numbers of samples goes between
// processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "probes/sweep/sample_source.h"

namespace midscope {

class RankGroup {
 public:
  virtual ~RankGroup() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;
  // Returns when all ranks have come here.
  virtual void Barrier() = 0;
  // Rank 0's number, on every rank.
  virtual int64_t FromRankZero(int64_t number) = 0;
  // Runs `work` on every rank with a source out of which each takes samples until none is left;
  // `samples` counts on rank 0 alone. Returns when all ranks are done. Where the work of a rank
  // throws, it is rethrown there, and the other ranks throw Cancelled or Error (failure) once the
  // samples that they run are done.
  virtual void Share(const std::set<int64_t>& samples,
                     const std::function<void(SampleSource& source)>& work) = 0;
};

// The group that the program was started in: by mpirun or srun where this was built with MPI, else
// of one. Throws Error (usage) where several processes were started and this was built without MPI:
// each would run the whole sweep. Called once in a process.
std::unique_ptr<RankGroup> JoinRankGroup();

// The group of this process alone.
std::unique_ptr<RankGroup> SingleRank();

// What mpirun and srun tell their processes: how many there are; 1 where none of them started this.
int64_t LaunchedProcesses();

}  // namespace midscope
