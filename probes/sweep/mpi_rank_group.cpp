// SPDX-License-Identifier: MIT
// The only file that uses MPI; compiled if MIDSCOPE_MPI is ON. Rank 0 distributes samples and also
// runs some. A separate thread answers the other ranks, because rank 0 could not answer while it
// runs a sample. It sleeps between polls, because MPI's blocking calls would take CPU time from the
// work.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "probes/sweep/rank_group.h"

namespace midscope {
namespace {

constexpr int kAskTag = 1;   // rank -> 0: a Message
constexpr int kGiveTag = 2;  // 0 -> rank: a sample, kNoMore, or whether a sample was taken back
constexpr int64_t kNoMore = -1;
constexpr std::chrono::milliseconds kPollTime(1);

// Message of a rank to rank 0: it is free, gives a sample back, or has ended; ends are ordered by
// severity.
enum Tell : int64_t { kFree = 0, kGivesBack = 1, kDone = 2, kCancelledEnd = 3, kFailedEnd = 4 };
struct Message {
  int64_t tell = kFree;
  int64_t sample = kNoMore;
};

// Waits without using CPU time, unlike MPI's blocking calls.
void Await(MPI_Request request) {
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) std::this_thread::sleep_for(kPollTime);
  }
}

// The remaining samples, on rank 0; both its own work and the serving thread take them.
class Waiting : public SampleSource {
 public:
  Waiting(const std::set<int64_t>& samples, int ranks)
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
      std::this_thread::sleep_for(kPollTime);
    }
  }
  bool GiveBack(int64_t sample) override {
    if (!TakeBack(sample)) return false;
    has_own_ = false;
    return true;
  }
  int64_t done_elsewhere() const override { return done_elsewhere_; }
  void EndOwnWork(int64_t end) {
    if (has_own_) NoteRun();
    if (end != kDone) Clear();
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
  std::mutex mutex_;
  std::deque<int64_t> samples_;
  std::set<int64_t> given_back_;
  int64_t running_ = 0;  // taken but not finished
  int workers_;          // number of ranks that have not ended
  bool has_own_ = false;
  std::atomic<int64_t> done_elsewhere_ = 0;
};

// Answers the other ranks, on rank 0.
class Server {
 public:
  Server(Waiting& waiting, int ranks)
      : waiting_(waiting),
        working_(ranks - 1),
        is_free_(static_cast<size_t>(ranks)),
        has_sample_(static_cast<size_t>(ranks)) {}

  // Answers until every rank has reported its end; returns the most severe end.
  int64_t Run() {
    while (working_ > 0) {
      int ready = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, kAskTag, MPI_COMM_WORLD, &ready, &status);
      if (ready) {
        Message message;
        MPI_Recv(&message, 2, MPI_INT64_T, status.MPI_SOURCE, kAskTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        Take(static_cast<size_t>(status.MPI_SOURCE), message);
      }
      GiveToFree();
      if (!ready) std::this_thread::sleep_for(kPollTime);
    }
    return worst_;
  }

 private:
  void Take(size_t rank, const Message& message) {
    if (message.tell == kGivesBack) {
      const bool taken = waiting_.TakeBack(message.sample);
      if (taken) has_sample_[rank] = false;
      Give(rank, taken ? 1 : 0);
      return;
    }
    if (has_sample_[rank]) {
      waiting_.NoteRun();
      waiting_.NoteDoneElsewhere();
      has_sample_[rank] = false;
    }
    if (message.tell == kFree) {
      is_free_[rank] = true;
      return;
    }
    worst_ = std::max(worst_, message.tell);
    if (message.tell != kDone) waiting_.Clear();  // no rank may start another sample
    waiting_.EndWork();
    --working_;
  }

  void GiveToFree() {
    for (size_t rank = 1; rank < is_free_.size(); ++rank) {
      if (!is_free_[rank]) continue;
      const std::optional<int64_t> sample = waiting_.Take();
      if (!sample && !waiting_.AllDone()) return;  // one may be given back
      is_free_[rank] = false;
      has_sample_[rank] = sample.has_value();
      Give(rank, sample.value_or(kNoMore));
    }
  }

  static void Give(size_t rank, int64_t number) {
    MPI_Send(&number, 1, MPI_INT64_T, static_cast<int>(rank), kGiveTag, MPI_COMM_WORLD);
  }

  Waiting& waiting_;
  int working_;
  int64_t worst_ = kDone;
  std::vector<bool> is_free_;     // by rank: whether it waits for a sample
  std::vector<bool> has_sample_;  // by rank: whether it runs a sample
};

class SharedSamples : public SampleSource {
 public:
  std::optional<int64_t> Next(const JobContext& context) override {
    context.ThrowIfCancelled();
    const int64_t sample = Ask({kFree, kNoMore});
    if (sample == kNoMore) return std::nullopt;
    return sample;
  }
  bool GiveBack(int64_t sample) override { return Ask({kGivesBack, sample}) == 1; }

 private:
  static int64_t Ask(const Message& message) {
    int64_t answer = 0;
    MPI_Request request{};
    MPI_Irecv(&answer, 1, MPI_INT64_T, 0, kGiveTag, MPI_COMM_WORLD, &request);
    MPI_Send(&message, 2, MPI_INT64_T, 0, kAskTag, MPI_COMM_WORLD);
    Await(request);
    return answer;
  }
};

// Runs the work; returns how it ended, and sets `thrown` to its exception.
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

std::string HostName() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return name.data();
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
  // After an error that other ranks do not have, the job must end: if a rank exits without
  // MPI_Finalize, mpirun ends the job.
  ~MpiRanks() override {
    if (std::uncaught_exceptions() == 0 || all_know_) MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  bool all_know() const override { return all_know_; }
  void Barrier() override {
    MPI_Request request{};
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    Await(request);
  }
  int64_t FromRankZero(int64_t number) override { return FromRank(0, number); }
  std::string FromRankZero(const std::string& text) override {
    std::string bytes = text;
    bytes.resize(static_cast<size_t>(FromRankZero(std::ssize(text))));
    MPI_Request request{};
    MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    Await(request);
    return bytes;
  }

  void Agree(const std::function<void()>& check) override {
    std::optional<Error> problem;
    try {
      check();
    } catch (const Error& error) {
      problem = error;
    }
    int64_t first = problem ? rank_ : size_;
    MPI_Request request{};
    MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD, &request);
    Await(request);
    all_know_ = first != size_;
    if (!all_know_) return;
    const bool is_usage = problem && problem->kind() == ErrorKind::kUsage;
    const auto kind = static_cast<ErrorKind>(
        FromRank(static_cast<int>(first),
                 static_cast<int64_t>(is_usage ? ErrorKind::kUsage : ErrorKind::kFailure)));
    if (first != rank_) throw AnotherRankFailed(kind);
    throw Error(kind, fmt::format("rank {} on {}", rank_, HostName()), problem->what());
  }

  void Share(const std::set<int64_t>& samples,
             const std::function<void(SampleSource& source)>& work) override {
    std::exception_ptr thrown;
    int64_t worst = rank_ == 0 ? Lead(samples, work, thrown) : Follow(work, thrown);
    worst = FromRank(0, worst);
    all_know_ = worst != kDone;
    if (thrown) std::rethrow_exception(thrown);
    if (worst == kCancelledEnd) throw Cancelled();
    if (worst == kFailedEnd) throw AnotherRankFailed(ErrorKind::kFailure);
  }

 private:
  int64_t Lead(const std::set<int64_t>& samples,
               const std::function<void(SampleSource& source)>& work,
               std::exception_ptr& thrown) const {
    Waiting waiting(samples, size_);
    int64_t theirs = kDone;
    std::thread server([&] { theirs = Server(waiting, size_).Run(); });
    const int64_t ours = RunWork(work, waiting, thrown);
    waiting.EndOwnWork(ours);
    server.join();
    return std::max(ours, theirs);
  }

  static int64_t Follow(const std::function<void(SampleSource& source)>& work,
                        std::exception_ptr& thrown) {
    SharedSamples source;
    const Message end = {RunWork(work, source, thrown), kNoMore};
    MPI_Send(&end, 2, MPI_INT64_T, 0, kAskTag, MPI_COMM_WORLD);
    return end.tell;
  }

  static int64_t FromRank(int rank, int64_t number) {
    MPI_Request request{};
    MPI_Ibcast(&number, 1, MPI_INT64_T, rank, MPI_COMM_WORLD, &request);
    Await(request);
    return number;
  }

  int rank_ = 0;
  int size_ = 1;
  bool all_know_ = false;  // whether all ranks have the last error and end by themselves
};

}  // namespace

std::unique_ptr<RankGroup> JoinMpi() { return std::make_unique<MpiRanks>(); }

}  // namespace midscope
