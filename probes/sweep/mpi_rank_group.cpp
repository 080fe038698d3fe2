// SPDX-License-Identifier: MIT
// The only file that uses MPI; compiled if MIDSCOPE_MPI is ON. Rank 0 distributes samples and also
// runs some. A separate thread answers the other ranks, because rank 0 could not answer while it
// runs a sample. It sleeps between polls, because MPI's blocking calls would take CPU time from the
// work. During tuning, a thread on each rank checks whether another rank has ended.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "probes/sweep/rank_group.h"
#include "probes/sweep/sample_source.h"

namespace midscope {
namespace {

constexpr int kAskTag = 1;   // rank -> 0: a Message
constexpr int kGiveTag = 2;  // 0 -> rank: a sample, kNoMore, or whether a sample was taken back
constexpr int kEndTag = 3;   // rank -> all others: the rank's work in Agree has thrown
constexpr int64_t kNoMore = -1;
constexpr std::chrono::milliseconds kPollTime(1);
constexpr std::chrono::milliseconds kWatchTime(20);
constexpr size_t kSumValues = size_t{1} << 22;  // values that Sum sends in one call

// Message of a rank to rank 0: the rank is free, gives a sample back, or has ended; kinds of ends
// are ordered by severity.
enum Tell : int64_t {
  kFree = 0,
  kGivesBack = 1,
  kDone = 2,
  kCancelledEnd = 3,
  kFailedEnd = 4,
  kUsageEnd = 5
};

struct Message {
  int64_t tell = kFree;
  int64_t sample = kNoMore;
};

bool IsFailure(int64_t end) { return end == kFailedEnd || end == kUsageEnd; }

// Waits for a request without using CPU time, unlike MPI's blocking calls.
void Await(MPI_Request request) {
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) std::this_thread::sleep_for(kPollTime);
  }
}

// Answers the messages of other ranks, on rank 0.
class Server {
 public:
  Server(WaitingSamples& waiting, int ranks)
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
      if (!sample && !waiting_.AllDone()) return;  // a rank may still give a sample back
      is_free_[rank] = false;
      has_sample_[rank] = sample.has_value();
      Give(rank, sample.value_or(kNoMore));
    }
  }

  static void Give(size_t rank, int64_t number) {
    MPI_Send(&number, 1, MPI_INT64_T, static_cast<int>(rank), kGiveTag, MPI_COMM_WORLD);
  }

  WaitingSamples& waiting_;
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

std::string HostName() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return name.data();
}

// Runs the work; returns how it ended, and sets `thrown` to its exception.
int64_t RunWork(const std::function<void()>& work, std::exception_ptr& thrown) {
  try {
    work();
    return kDone;
  } catch (const Cancelled&) {
    thrown = std::current_exception();
    return kCancelledEnd;
  } catch (const Error& error) {
    thrown = std::current_exception();
    return error.kind() == ErrorKind::kUsage ? kUsageEnd : kFailedEnd;
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
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  void Leave(bool failed) override {
    if (failed && !all_know_) return;  // if a rank exits without MPI_Finalize, mpirun ends the job
    Barrier();
    MPI_Finalize();
  }
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

  const std::atomic<bool>* StopFlag(const std::atomic<bool>* cancel) override {
    cancel_ = cancel;
    return &stop_;
  }

  void Agree(const std::function<void()>& work) override {
    std::exception_ptr thrown;
    const std::vector<int64_t> ends = EndsOf(RunWatched(work, thrown));
    const auto failed = std::find_if(ends.begin(), ends.end(), IsFailure);
    const bool cancelled = std::find(ends.begin(), ends.end(), kCancelledEnd) != ends.end();
    all_know_ = cancelled || failed != ends.end();
    if (!all_know_) return;
    if (failed == ends.end()) throw Cancelled();
    const auto kind = *failed == kUsageEnd ? ErrorKind::kUsage : ErrorKind::kFailure;
    if (failed - ends.begin() != rank_) throw AnotherRankFailed(kind);
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      throw Error(kind, fmt::format("rank {} on {}", rank_, HostName()), error.what());
    }
  }

  void Sum(std::span<float> values) override { SumAs(values, MPI_FLOAT); }
  void Sum(std::span<double> values) override { SumAs(values, MPI_DOUBLE); }

  void Share(const std::set<int64_t>& samples,
             const std::function<void(SampleSource& source)>& work) override {
    std::exception_ptr thrown;
    int64_t worst = rank_ == 0 ? Lead(samples, work, thrown) : Follow(work, thrown);
    worst = FromRank(0, worst);
    all_know_ = worst != kDone;
    if (thrown) std::rethrow_exception(thrown);
    if (worst == kCancelledEnd) throw Cancelled();
    if (IsFailure(worst)) throw AnotherRankFailed(ErrorKind::kFailure);
  }

 private:
  int64_t Lead(const std::set<int64_t>& samples,
               const std::function<void(SampleSource& source)>& work,
               std::exception_ptr& thrown) const {
    WaitingSamples waiting(samples, size_);
    int64_t theirs = kDone;
    std::thread server([&] { theirs = Server(waiting, size_).Run(); });
    const int64_t ours = RunWork([&] { work(waiting); }, thrown);
    waiting.EndOwnWork(ours != kDone);
    server.join();
    return std::max(ours, theirs);
  }

  static int64_t Follow(const std::function<void(SampleSource& source)>& work,
                        std::exception_ptr& thrown) {
    SharedSamples source;
    const Message end = {RunWork([&] { work(source); }, thrown), kNoMore};
    MPI_Send(&end, 2, MPI_INT64_T, 0, kAskTag, MPI_COMM_WORLD);
    return end.tell;
  }

  // Runs the work as RunWork does, and sets the stop flag meanwhile if it has been requested.
  int64_t RunWatched(const std::function<void()>& work, std::exception_ptr& thrown) {
    if (cancel_ == nullptr) return RunWork(work, thrown);
    if (*cancel_) stop_ = true;
    const std::jthread watching([this](const std::stop_token& token) {
      std::mutex mutex;
      std::condition_variable_any ended;
      std::unique_lock<std::mutex> lock(mutex);
      while (!ended.wait_for(lock, token, kWatchTime, [&] { return token.stop_requested(); })) {
        int another_ended = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, kEndTag, MPI_COMM_WORLD, &another_ended, MPI_STATUS_IGNORE);
        if (*cancel_ || another_ended) stop_ = true;
      }
    });
    return RunWork(work, thrown);
  }

  // Returns how each rank's work ended, [rank]. An early end is announced to ranks that still work.
  std::vector<int64_t> EndsOf(int64_t end) const {
    std::vector<MPI_Request> announced;
    for (int rank = 0; rank < size_ && end != kDone; ++rank) {
      if (rank == rank_) continue;
      MPI_Isend(&end, 1, MPI_INT64_T, rank, kEndTag, MPI_COMM_WORLD, &announced.emplace_back());
    }
    std::vector<int64_t> ends(static_cast<size_t>(size_));
    MPI_Request request{};
    MPI_Iallgather(&end, 1, MPI_INT64_T, ends.data(), 1, MPI_INT64_T, MPI_COMM_WORLD, &request);
    Await(request);
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_ || ends[static_cast<size_t>(rank)] == kDone) continue;
      int64_t known = 0;
      MPI_Recv(&known, 1, MPI_INT64_T, rank, kEndTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(static_cast<int>(announced.size()), announced.data(), MPI_STATUSES_IGNORE);
    return ends;
  }

  // Sums values over ranks: each rank adds up one part of the values, in the order of ranks,
  // because MPI_Allreduce leaves the order of additions to the library. Blocking calls are the
  // fastest, and all ranks arrive here at once.
  template <typename Value>
  void SumAs(std::span<Value> values, MPI_Datatype type) const {
    const auto ranks = static_cast<size_t>(size_);
    std::vector<Value> all;
    std::vector<Value> received;
    for (size_t first = 0; first < values.size(); first += kSumValues) {
      const std::span<Value> now =
          values.subspan(first, std::min(kSumValues, values.size() - first));
      const size_t part = (now.size() + ranks - 1) / ranks;
      const auto count = static_cast<int>(part);
      all.assign(part * ranks, 0);
      received.resize(all.size());
      std::copy(now.begin(), now.end(), all.begin());
      MPI_Alltoall(all.data(), count, type, received.data(), count, type, MPI_COMM_WORLD);
      for (size_t rank = 1; rank < ranks; ++rank) {
        for (size_t i = 0; i < part; ++i) received[i] += received[rank * part + i];
      }
      MPI_Allgather(received.data(), count, type, all.data(), count, type, MPI_COMM_WORLD);
      std::copy_n(all.begin(), now.size(), now.begin());
    }
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
  const std::atomic<bool>* cancel_ = nullptr;
  std::atomic<bool> stop_ = false;
};

}  // namespace

std::unique_ptr<RankGroup> JoinMpi() { return std::make_unique<MpiRanks>(); }

}  // namespace midscope
