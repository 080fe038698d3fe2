// SPDX-License-Identifier: MIT
#include "data/store/reader/reader_service.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>
#include <span>

#include "core/base/error.h"
#include "data/store/hdf5_run.h"
#include "data/store/reader/reader_message.h"
#include "data/store/record_message.h"

namespace midscope {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // sanitizers exceed limits of memory and time
#else
constexpr bool kSanitized = false;
#endif

constexpr int64_t kLargestMemory = int64_t{2} << 30;
constexpr int64_t kSmallestMemory = int64_t{512} << 20;
constexpr double kSecondsToOpen = kSanitized ? 8 : 0.8;
constexpr double kMostSecondsForSize = 60;
constexpr double kBytesPerSecond = 20e6;  // assumed reading speed of a slow machine
constexpr double kSecondsPerRequest = 0.01;
// Number of texts of an array that are read and sent at once.
constexpr int64_t kTextsAtOnce = 4096;
constexpr size_t kTextPieceBytes = 1 << 20;

void SetLimit(int resource, int64_t value) {
  const rlimit limit{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// Increases the limit of this process' total CPU time.
void AddSeconds(double seconds) {
  constexpr double kMicroseconds = 1e6;
  itimerval timer{};
  getitimer(ITIMER_PROF, &timer);
  seconds += static_cast<double>(timer.it_value.tv_sec) +
             static_cast<double>(timer.it_value.tv_usec) / kMicroseconds;
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>(
      (seconds - static_cast<double>(timer.it_value.tv_sec)) * kMicroseconds);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

int64_t PhysicalBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

int64_t SentBytes(const ArrayData& data) {
  return std::visit(
      [](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        // For texts, returns a nominal size, so that one message contains kTextsAtOnce texts.
        return std::is_same_v<T, std::string> ? kLargestPiece / kTextsAtOnce
                                              : static_cast<int64_t>(sizeof(T));
      },
      data);
}

// Splits a box of an array into boxes that are contiguous in memory and have at most kLargestPiece
// bytes, and calls visit(box) in order.
template <typename Visit>
void ForEachPiece(const IndexBox& whole, int64_t element_bytes, const Visit& visit) {
  // Index of the axis that is split; later axes stay whole.
  size_t cut = whole.sizes.size();
  int64_t inner_bytes = element_bytes;
  while (cut > 0 && inner_bytes <= kLargestPiece / std::max<int64_t>(1, whole.sizes[cut - 1])) {
    inner_bytes *= whole.sizes[--cut];
  }
  if (cut == 0) {
    visit(whole);
    return;
  }
  --cut;
  const int64_t step = std::max<int64_t>(1, kLargestPiece / inner_bytes);
  IndexBox box = whole;
  for (size_t axis = 0; axis < cut; ++axis) box.sizes[axis] = 1;
  std::vector<int64_t> at(cut + 1, 0);  // offsets in `whole`
  while (at[0] < whole.sizes[0]) {
    for (size_t axis = 0; axis <= cut; ++axis) box.begin[axis] = whole.begin[axis] + at[axis];
    box.sizes[cut] = std::min(step, whole.sizes[cut] - at[cut]);
    visit(box);
    at[cut] += step;
    for (size_t axis = cut; axis > 0 && at[axis] >= whole.sizes[axis]; --axis) {
      at[axis] = 0;
      ++at[axis - 1];
    }
  }
}

class Service {
 public:
  Service(int socket, const std::string& path) : socket_(socket), path_(path) {}

  int Run() {
    std::vector<uint8_t> bytes;
    while (Receive(bytes)) {
      AddSeconds(kSecondsPerRequest);
      try {
        Answer(DecodeRequest(path_, bytes));
      } catch (const Error& error) {
        SendError(error.what());
      } catch (const std::bad_alloc&) {
        SendError(Failure(path_, "needs more memory than its reader's limit",
                          "It is damaged, or only a part of it can be read at once")
                      .what());
      } catch (const std::exception& error) {
        SendError(Failure(path_, std::string("is damaged: ") + error.what()).what());
      }
    }
    return 0;
  }

 private:
  bool Receive(std::vector<uint8_t>& bytes) const {
    MessageHead head;
    if (!ReceiveBytes(socket_, &head, sizeof(head), -1)) return false;
    if (head.magic != MessageHead::kMagic || head.bytes > static_cast<uint64_t>(kLargestPiece))
      return false;
    bytes.resize(head.bytes);
    return ReceiveBytes(socket_, bytes.data(), bytes.size(), -1);
  }

  void SendError(const std::string& text) const {
    Send(MessageKind::kFailure, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  void Send(MessageKind kind, std::span<const uint8_t> bytes) const {
    if (static_cast<int64_t>(bytes.size()) > kLargestPiece)
      throw Failure(path_, "has a longer description than any file of Midscope");
    SendMessage(socket_, kind, bytes);
  }

  void Answer(const ReaderRequest& request) {
    if (!run_) run_ = OpenRunHere(path_, FileTrust::kForeign);
    if (request.kind == ReaderRequest::Kind::kContents) {
      Send(MessageKind::kContents, EncodeContents(run_->Contents()));
      return;
    }
    const auto record = static_cast<size_t>(request.record);
    if (request.kind == ReaderRequest::Kind::kFrame || frame_record_ != request.record) {
      frame_ = run_->Frame(record);
      frame_record_ = request.record;
    }
    if (request.kind == ReaderRequest::Kind::kFrame) {
      Send(MessageKind::kFrame, EncodeFrame(frame_));
      return;
    }
    const Array* array = frame_.FindArray(request.array);
    if (!array) throw Failure(path_, "has no array '" + request.array + "'");
    SendValues(record, *array, request.box);
  }

  void SendValues(size_t record, const Array& array, const IndexBox& box) {
    ForEachPiece(box, SentBytes(array.data), [&](const IndexBox& piece) {
      double bytes = static_cast<double>(SentBytes(array.data));
      for (const int64_t size : piece.sizes) bytes *= static_cast<double>(size);
      AddSeconds(bytes / kBytesPerSecond);
      std::visit([&](const auto& values) { SendPiece(values); },
                 run_->Values(record, array, piece));
    });
  }

  template <typename T>
  void SendPiece(const std::vector<T>& values) const {
    Send(MessageKind::kValues,
         {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)});
  }
  void SendPiece(const std::vector<std::string>& texts) const {
    std::vector<uint8_t> piece;
    for (const std::string& text : texts) {
      AppendText(piece, text);
      if (piece.size() < kTextPieceBytes) continue;
      Send(MessageKind::kValues, piece);
      piece.clear();
    }
    if (!piece.empty()) Send(MessageKind::kValues, piece);
  }

  int socket_;
  std::string path_;
  std::unique_ptr<RunSource> run_;
  Record frame_;
  int64_t frame_record_ = -1;
};

void LimitReader(const std::string& path) {
  if (!kSanitized) {
    SetLimit(RLIMIT_AS, std::clamp(PhysicalBytes() / 2, kSmallestMemory, kLargestMemory));
  }
  SetLimit(RLIMIT_FSIZE, 0);
  SetLimit(RLIMIT_CORE, 0);
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(path, ignored);
  const double for_size = ignored ? 0 : static_cast<double>(bytes) / kBytesPerSecond;
  AddSeconds(kSecondsToOpen + std::min(for_size, kMostSecondsForSize));
}

}  // namespace

int ReaderMain(const std::string& path) {
  struct stat input {};
  if (fstat(STDIN_FILENO, &input) != 0 || !S_ISSOCK(input.st_mode)) {
    std::fprintf(stderr, "midscope: a reader is started by Midscope's other processes\n");
    return 2;
  }
  LimitReader(path);
  // Uses _exit to skip HDF5's exit handlers, which could crash if the heap is damaged.
  _exit(Service(STDIN_FILENO, path).Run());
}

}  // namespace midscope
