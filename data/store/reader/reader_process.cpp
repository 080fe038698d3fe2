// SPDX-License-Identifier: MIT
#include "data/store/reader/reader_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "data/store/file_limits.h"
#include "data/store/reader/reader_message.h"
#include "data/store/record_message.h"

namespace midscope {

namespace {

// Maximum time without data from the reader process, for slow disks; the reader process limits its
// own CPU time (reader_service.h).
constexpr int kLongestWaitMs = 120'000;
constexpr uint64_t kLongestErrorText = 1 << 16;

class RunApart : public RunSource {
 public:
  explicit RunApart(const std::string& path) : path_(path), child_(path) {
    contents_ = DecodeContents(path_, Ask({}, MessageKind::kContents));
    const FileLimits limits(FileTrust::kForeign,
                            PartBytes(LocationOf(path_), contents_.parts) +
                                static_cast<int64_t>(std::filesystem::file_size(path_)));
    text_budget_ = limits.MostTextBytes();
  }

  RunContents Contents() override { return contents_; }

  Record Frame(size_t record) override {
    const ReaderRequest request{ReaderRequest::Kind::kFrame, static_cast<int64_t>(record), "", {}};
    return DecodeFrame(path_, Ask(request, MessageKind::kFrame));
  }

  ArrayData Values(size_t record, const Array& array, const IndexBox& box) override {
    const ReaderRequest request{ReaderRequest::Kind::kValues, static_cast<int64_t>(record),
                                array.name, box};
    int64_t count = 1;
    for (const int64_t size : box.sizes) count *= size;
    return std::visit(
        [&](const auto& kind) -> ArrayData {
          using T = typename std::decay_t<decltype(kind)>::value_type;
          if constexpr (std::is_same_v<T, std::string>) {
            return AskTexts(request, count);
          } else {
            return AskNumbers<T>(request, count);
          }
        },
        array.data);
  }

 private:
  [[noreturn]] void ThrowEnded() {
    if (child_.running()) ending_ = child_.End();
    throw Failure(path_, "is damaged: the process that reads it " + ending_,
                  "Copy it again, or run again");
  }

  void Send(const ReaderRequest& request) {
    if (!child_.running()) ThrowEnded();
    if (!SendMessage(child_.socket(), MessageKind::kAsk, EncodeRequest(request))) ThrowEnded();
  }

  void Receive(void* bytes, size_t size) {
    if (!ReceiveBytes(child_.socket(), bytes, size, kLongestWaitMs)) ThrowEnded();
  }

  // Receives a header of this kind and returns the size of the message; if the reader process sent
  // an error instead, throws it.
  uint64_t ReceiveHead(MessageKind kind) {
    MessageHead head;
    Receive(&head, sizeof(head));
    if (head.magic == MessageHead::kMagic && head.kind == MessageKind::kFailure &&
        head.bytes <= kLongestErrorText) {
      std::string text(head.bytes, '\0');
      Receive(text.data(), text.size());
      const size_t colon = text.find(": ");
      if (colon == std::string::npos) throw Failure(path_, text);
      throw Failure(text.substr(0, colon), text.substr(colon + 2));
    }
    if (head.magic != MessageHead::kMagic || head.kind != kind ||
        head.bytes > static_cast<uint64_t>(kLargestPiece)) {
      ThrowEnded();
    }
    return head.bytes;
  }

  std::vector<uint8_t> Ask(const ReaderRequest& request, MessageKind kind) {
    Send(request);
    std::vector<uint8_t> bytes(ReceiveHead(kind));
    Receive(bytes.data(), bytes.size());
    return bytes;
  }

  template <typename T>
  std::vector<T> AskNumbers(const ReaderRequest& request, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));  // allocated first: may throw
    Send(request);
    const uint64_t wanted = values.size() * sizeof(T);
    for (uint64_t done = 0; done < wanted;) {
      const uint64_t bytes = ReceiveHead(MessageKind::kValues);
      if (bytes == 0 || bytes > wanted - done) ThrowEnded();
      Receive(reinterpret_cast<char*>(values.data()) + done, bytes);
      done += bytes;
    }
    return values;
  }

  std::vector<std::string> AskTexts(const ReaderRequest& request, int64_t count) {
    Send(request);
    std::vector<std::string> texts;
    uint64_t left =
        static_cast<uint64_t>(text_budget_) + static_cast<uint64_t>(count) * sizeof(uint32_t);
    while (static_cast<int64_t>(texts.size()) < count) {
      const uint64_t bytes = ReceiveHead(MessageKind::kValues);
      if (bytes == 0 || bytes > left) ThrowEnded();
      left -= bytes;
      std::vector<uint8_t> piece(bytes);
      Receive(piece.data(), piece.size());
      if (!TakeTexts(piece, texts)) ThrowEnded();
    }
    if (static_cast<int64_t>(texts.size()) != count) ThrowEnded();
    return texts;
  }

  std::string path_;
  ReaderChild child_;
  std::string ending_;
  RunContents contents_;
  int64_t text_budget_ = 0;
};

}  // namespace

std::unique_ptr<RunSource> OpenRunApart(const std::string& path) {
  return std::make_unique<RunApart>(path);
}

namespace {

namespace fs = std::filesystem;

// Arguments for posix_spawn: file actions and attributes.
class SpawnSettings {
 public:
  explicit SpawnSettings(int child_socket) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, child_socket, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    // Discards stderr, where the C library would print messages about a damaged heap.
    posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::string FindReaderProgram() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed).replace_filename("midscope");
  const bool found = !failed && access(program.c_str(), X_OK) == 0;
  return found ? program.string() : "";
}

ReaderChild::ReaderChild(const std::string& path) {
  std::string program = FindReaderProgram();
  if (program.empty()) {
    throw Failure(path, "is read by the program midscope, which is not beside this one",
                  "Install both in one folder, as the build does");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Failure(path,
                  std::string("cannot be read in a separate process: ") + std::strerror(errno));
  std::string file = path;
  std::string as_reader = kReaderArgument;
  char* arguments[] = {program.data(), as_reader.data(), file.data(), nullptr};
  const SpawnSettings settings(ends[1]);
  const int error = posix_spawn(&process_, program.c_str(), settings.files(), settings.attributes(),
                                arguments, environ);
  close(ends[1]);
  socket_ = ends[0];
  if (error == 0) return;
  close(socket_);
  throw Failure(path, program + ", which reads it, cannot be started: " + std::strerror(error));
}

ReaderChild::~ReaderChild() { End(); }

std::string ReaderChild::End() {
  if (process_ <= 0) return "ended before";
  // If the reader process has closed its socket, waits until it has ended; otherwise kills it.
  pollfd hung_up{socket_, 0, 0};
  const bool gone = poll(&hung_up, 1, 0) > 0 && (hung_up.revents & POLLHUP) != 0;
  if (!gone) kill(process_, SIGKILL);
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(process_, &status, 0);
  } while (ended < 0 && errno == EINTR);
  process_ = -1;
  close(socket_);
  socket_ = -1;
  if (!gone) return "gave no answer that makes sense";
  if (ended > 0 && WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGPROF) return "computed for too long";
    return fmt::format("was ended by signal {}", WTERMSIG(status));
  }
  return "left";
}

}  // namespace midscope
