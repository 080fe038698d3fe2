// SPDX-License-Identifier: MIT
// The only file that uses MPI; compiled where MIDSCOPE_MPI is ON. Rank 0 distributes samples and
// runs some itself. A separate thread answers the other ranks: polling by MPI's blocking calls
// would take processor time from the work, and during a sample of seconds rank 0 could not answer.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "probes/sweep/rank_group.h"

namespace midscope {
namespace {

constexpr int kAskTag = 1;   // rank -> 0: its end (End), or kGoOn for the next sample
constexpr int kGiveTag = 2;  // 0 -> rank: a sample, or kNoMore
constexpr int64_t kGoOn = -1;
constexpr int64_t kNoMore = -1;
constexpr std::chrono::milliseconds kPollTime(1);

// The end of a rank's work.
enum End : int64_t { kDone = 0, kCancelledEnd = 1, kFailedEnd = 2 };

// The remaining samples, on rank 0; taken by its own work and by the serving thread.
class Waiting : public SampleSource {
 public:
  explicit Waiting(const std::set<int64_t>& samples) : samples_(samples.begin(), samples.end()) {}

  std::optional<int64_t> Next() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (samples_.empty()) return std::nullopt;
    const int64_t sample = samples_.front();
    samples_.pop_front();
    return sample;
  }
  int64_t done_elsewhere() const override { return done_elsewhere_; }

  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    samples_.clear();
  }
  void NoteDone() { ++done_elsewhere_; }

 private:
  std::mutex mutex_;
  std::deque<int64_t> samples_;
  std::atomic<int64_t> done_elsewhere_ = 0;
};

// Answers the other ranks until each has reported its end; returns the worst of the ends.
int64_t Serve(Waiting& waiting, int ranks) {
  int64_t worst = kDone;
  std::vector<bool> has_sample(static_cast<size_t>(ranks), false);
  for (int working = ranks - 1; working > 0;) {
    int ready = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kAskTag, MPI_COMM_WORLD, &ready, &status);
    if (!ready) {
      std::this_thread::sleep_for(kPollTime);
      continue;
    }
    int64_t message = 0;
    const int rank = status.MPI_SOURCE;
    MPI_Recv(&message, 1, MPI_INT64_T, rank, kAskTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const auto index = static_cast<size_t>(rank);
    if (message == kGoOn) {
      if (has_sample[index]) waiting.NoteDone();
      const int64_t sample = waiting.Next().value_or(kNoMore);
      has_sample[index] = sample != kNoMore;
      MPI_Send(&sample, 1, MPI_INT64_T, rank, kGiveTag, MPI_COMM_WORLD);
    } else {
      worst = std::max(worst, message);
      if (message != kDone) waiting.Clear();  // no rank begins another sample
      --working;
    }
  }
  return worst;
}

class AskedSamples : public SampleSource {
 public:
  std::optional<int64_t> Next() override {
    const int64_t go_on = kGoOn;
    int64_t sample = kNoMore;
    MPI_Send(&go_on, 1, MPI_INT64_T, 0, kAskTag, MPI_COMM_WORLD);
    MPI_Recv(&sample, 1, MPI_INT64_T, 0, kGiveTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (sample == kNoMore) return std::nullopt;
    return sample;
  }
};

// Runs the work; returns its end, with the exception.
int64_t RunWork(const std::function<void(SampleSource& source)>& work, SampleSource& source,
                std::exception_ptr& thrown) {
  try {
    work(source);
    return kDone;
  } catch (const Cancelled&) {
    thrown = std::current_exception();
    return kCancelledEnd;
  } catch (...) {
    thrown = std::current_exception();
    return kFailedEnd;
  }
}

class MpiRanks : public RankGroup {
 public:
  MpiRanks() {
    int level = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS ||
        level < MPI_THREAD_SERIALIZED) {
      throw Failure("MPI", "its library does not support calls from another thread",
                    "Use one with MPI_THREAD_SERIALIZED, such as Debian's OpenMPI");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  // After an error the job must end: a rank that exits without MPI_Finalize makes mpirun end it.
  ~MpiRanks() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  void Barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  int64_t FromRankZero(int64_t number) override {
    MPI_Bcast(&number, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return number;
  }

  void Share(const std::set<int64_t>& samples,
             const std::function<void(SampleSource& source)>& work) override {
    std::exception_ptr thrown;
    int64_t worst = rank_ == 0 ? Lead(samples, work, thrown) : Follow(work, thrown);
    MPI_Bcast(&worst, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (thrown) std::rethrow_exception(thrown);
    if (worst == kCancelledEnd) throw Cancelled();
    if (worst == kFailedEnd) {
      throw Failure(fmt::format("rank {}", rank_), "another rank failed",
                    "The same command with --resume continues");
    }
  }

 private:
  int64_t Lead(const std::set<int64_t>& samples,
               const std::function<void(SampleSource& source)>& work,
               std::exception_ptr& thrown) const {
    Waiting waiting(samples);
    int64_t theirs = kDone;
    std::thread server([&] { theirs = Serve(waiting, size_); });
    const int64_t ours = RunWork(work, waiting, thrown);
    if (ours != kDone) waiting.Clear();
    server.join();
    return std::max(ours, theirs);
  }

  static int64_t Follow(const std::function<void(SampleSource& source)>& work,
                        std::exception_ptr& thrown) {
    AskedSamples source;
    const int64_t end = RunWork(work, source, thrown);
    MPI_Send(&end, 1, MPI_INT64_T, 0, kAskTag, MPI_COMM_WORLD);
    return end;
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<RankGroup> JoinRankGroup() {
  // Without a launcher, starting MPI would only cost time and processes.
  if (LaunchedProcesses() <= 1) return SingleRank();
  return std::make_unique<MpiRanks>();
}

}  // namespace midscope
