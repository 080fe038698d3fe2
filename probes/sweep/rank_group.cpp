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
  void Leave(bool /*failed*/) override {}
  bool all_know() const override { return true; }
  void Barrier() override {}
  int64_t FromRankZero(int64_t number) override { return number; }
  std::string FromRankZero(const std::string& text) override { return text; }
  const std::atomic<bool>* StopFlag(const std::atomic<bool>* cancel) override { return cancel; }
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
  // Environment variables of OpenMPI's mpirun, of MPICH's mpirun and srun --mpi=pmi2, and of srun.
  // SLURM_NTASKS is not used, because it is also set in salloc or sbatch without srun.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (NumberIn(variable) > 0) return NumberIn(variable);
  }
  return 1;
}

int64_t LaunchedRank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (std::getenv(variable)) return NumberIn(variable);
  }
  return LaunchedProcesses() > 1 ? NumberIn("SLURM_PROCID") : 0;
}

namespace {

// Returns whether the launcher set variables with which the processes can connect.
bool IsJoinable() {
  return LaunchedProcesses() <= 1 || std::getenv("OMPI_COMM_WORLD_SIZE") ||
         std::getenv("PMI_SIZE") || std::getenv("PMIX_RANK");
}

}  // namespace

std::unique_ptr<RankGroup> JoinRankGroup() {
  // Without a launcher, MPI is not started, because it would cost time and processes.
  if (LaunchedProcesses() <= 1) return SingleRank();
  const std::string count = std::to_string(LaunchedProcesses());
  if (!IsJoinable()) {
    throw UsageError("srun",
                     count + " processes were started that do not know of each other: " +
                         "each would run all of the work",
                     "Start them by srun --mpi=pmix");
  }
  return JoinMpi();
}

#ifndef MIDSCOPE_MPI
std::unique_ptr<RankGroup> JoinMpi() {
  throw UsageError(
      "MPI",
      fmt::format(
          "this program was built without it, and each of {} processes would run all of the work",
          LaunchedProcesses()),
      "Build with MIDSCOPE_MPI=ON, or start it once");
}
#endif

}  // namespace midscope
