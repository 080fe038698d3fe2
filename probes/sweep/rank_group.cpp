// SPDX-License-Identifier: MIT
#include "probes/sweep/rank_group.h"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "core/base/error.h"

namespace midscope {
namespace {

class One : public RankGroup {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  void Barrier() override {}
  int64_t FromRankZero(int64_t number) override { return number; }
  void Share(const std::set<int64_t>& samples,
             const std::function<void(SampleSource& source)>& work) override {
    OrderedSamples source(samples);
    work(source);
  }
};

int64_t NumberIn(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::strtoll(text, nullptr, 10) : 0;
}

}  // namespace

std::unique_ptr<RankGroup> SingleRank() { return std::make_unique<One>(); }

int64_t LaunchedProcesses() {
  // Variables of OpenMPI's mpirun; MPICH's and srun --mpi=pmi2; srun --mpi=pmix. Within an salloc
  // or sbatch without srun, SLURM_NTASKS is set too, so it can't be used.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (NumberIn(variable) > 0) return NumberIn(variable);
  }
  return std::getenv("PMIX_RANK") && NumberIn("SLURM_STEP_NUM_TASKS") > 0
             ? NumberIn("SLURM_STEP_NUM_TASKS")
             : 1;
}

#ifndef MIDSCOPE_MPI
std::unique_ptr<RankGroup> JoinRankGroup() {
  if (LaunchedProcesses() > 1) {
    throw UsageError(
        "MPI",
        fmt::format(
            "this program was built without it, and each of {} processes would run the whole sweep",
            LaunchedProcesses()),
        "Build with MIDSCOPE_MPI=ON, or start it once");
  }
  return SingleRank();
}
#endif

}  // namespace midscope
