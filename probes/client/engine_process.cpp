// SPDX-License-Identifier: MIT
#include "probes/client/engine_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "probes/engine/engine.h"
#include "probes/serve/method.h"

namespace midscope {
namespace {

constexpr std::string_view kFirstLine = "midscope-engine ";
constexpr size_t kGreetingBytes = size_t{64} << 10;
constexpr size_t kKeptLines = 200;
constexpr int kPollMilliseconds = 50;
constexpr std::chrono::seconds kPatience{2};
constexpr int kPipeBytes = 1 << 20;

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Failure("engine", std::string("no pipe can be made: ") + std::strerror(errno));
    }
  }
  std::array<int, 2> ends{};  // ends to read from and to write to
};

// Starts the program `words` with these descriptors as standard streams, and closes them here.
int Spawn(const std::vector<std::string>& words, int input, int output, int errors) {
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  pid_t process = 0;
  const int failed =
      ::posix_spawnp(&process, pointers.front(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  for (const int end : {input, output, errors}) ::close(end);
  if (failed != 0) {
    throw Failure(words.front(), std::string("it cannot be started: ") + std::strerror(failed),
                  "Check the program's path");
  }
  return process;
}

// Makes a writer whose thread gets an error instead of SIGPIPE once the reader has closed the pipe.
std::unique_ptr<FrameWriter> WriterWithoutSignal(int descriptor) {
  sigset_t pipe_signal;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  auto writer = std::make_unique<FrameWriter>(descriptor);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return writer;
}

}  // namespace

EngineProcess::EngineProcess(const std::vector<std::string>& words) {
  const Pipe input;
  const Pipe output;
  const Pipe errors;
  output_ = std::make_unique<FileDescriptor>(output.ends[0]);
  errors_ = std::make_unique<FileDescriptor>(errors.ends[0]);
  ::fcntl(output_->get(), F_SETPIPE_SZ, kPipeBytes);
  writer_ = WriterWithoutSignal(input.ends[1]);
  pid_ = Spawn(words, input.ends[0], output.ends[1], errors.ends[1]);
  error_reader_ = std::thread([this] { ReadErrors(); });
  reader_ = std::thread([this] { ReadFrames(); });
}

EngineProcess::~EngineProcess() {
  writer_.reset();  // closes the input
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return ended_; })) ::kill(pid_, SIGKILL);
  }
  reader_.join();
  error_reader_.join();
}

int64_t EngineProcess::Send(const std::string& method, const Message& params) {
  int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_number_;
    waiting_[number];
  }
  std::string frame = PackMessage({{"id", number}, {"method", method}, {"params", params}});
  if (frame.size() > kLargestFrame) {
    Forget(number);
    throw UsageError("request", fmt::format("it has {} bytes, more than a frame takes: {}",
                                            frame.size(), kLargestFrame));
  }
  writer_->Send(frame);
  return number;
}

void EngineProcess::Cancel(int64_t number) { writer_->Send(PackMessage({{"cancel", number}})); }

Message EngineProcess::Next(int64_t number, int milliseconds) {
  std::unique_lock lock(mutex_);
  std::deque<Message>& messages = waiting_.at(number);
  changed_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                    [&] { return ended_ || !messages.empty(); });
  if (!messages.empty()) {
    Message message = std::move(messages.front());
    messages.pop_front();
    return message;
  }
  if (ended_) throw EngineEnded(EndText());
  return nullptr;
}

void EngineProcess::Forget(int64_t number) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(number);
}

bool EngineProcess::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

// Reads up to and including the first line of the protocol. Earlier lines are stored like lines of
// standard error, so that they are shown if that first line never comes.
bool EngineProcess::SkipGreeting() {
  std::string line;
  char byte = 0;
  for (size_t count = 0; count < kGreetingBytes; ++count) {
    ssize_t read = 0;
    do {
      read = ::read(output_->get(), &byte, 1);
    } while (read < 0 && errno == EINTR);
    if (read <= 0) return false;
    if (byte != '\n') {
      line += byte;
      continue;
    }
    if (line == fmt::format("{}{}", kFirstLine, kProtocolVersion)) return true;
    const bool other = line.starts_with(kFirstLine);
    const std::lock_guard lock(mutex_);
    Keep(other ? fmt::format("{}: this program speaks protocol {}; install both in one version",
                             line, kProtocolVersion)
               : line);
    if (other) break;
    line.clear();
  }
  ::kill(pid_, SIGKILL);
  return false;
}

void EngineProcess::ReadFrames() {
  // Without the protocol's first line, reads no more: a child of the process may keep the output
  // open.
  if (!SkipGreeting()) return TakeStatus();
  FrameReader reader(output_->get());
  while (true) {
    Message message;
    try {
      const std::optional<std::string_view> frame = reader.Next();
      if (!frame) break;
      message = UnpackMessage(*frame);
      if (message.contains("method")) throw Failure("engine", "it sends requests, not answers");
    } catch (const Error& error) {
      // A message without a request number means that the connection is broken.
      const std::lock_guard lock(mutex_);
      Keep(error.what());
      ::kill(pid_, SIGKILL);
      break;
    }
    if (!message.is_object() || !message.contains("id") || !message["id"].is_number_integer()) {
      continue;
    }
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(message["id"].get<int64_t>());
    if (found != waiting_.end()) found->second.push_back(std::move(message));
    changed_.notify_all();
  }
  TakeStatus();
}

void EngineProcess::TakeStatus() {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) ::kill(pid_, SIGKILL);
    ::poll(nullptr, 0, kPollMilliseconds);
  }
  std::unique_lock lock(mutex_);
  exited_ = true;
  changed_.wait_for(lock, kPatience, [this] { return errors_read_; });
  status_ = status;
  ended_ = true;
  changed_.notify_all();
}

void EngineProcess::ReadErrors() {
  ReadErrorLines();
  const std::lock_guard lock(mutex_);
  errors_read_ = true;
  changed_.notify_all();
}

void EngineProcess::ReadErrorLines() {
  std::string line;
  std::array<char, 4096> bytes{};
  while (true) {
    pollfd wait{errors_->get(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, kPollMilliseconds);
    // Another process, such as a shared connection of ssh, may hold the stream open.
    if (ready == 0) {
      const std::lock_guard lock(mutex_);
      if (exited_) return;
    }
    if (ready <= 0) continue;
    const ssize_t count = ::read(errors_->get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[static_cast<size_t>(i)] != '\n') {
        line += bytes[static_cast<size_t>(i)];
        continue;
      }
      const std::lock_guard lock(mutex_);
      Keep(std::exchange(line, ""));
    }
  }
}

void EngineProcess::Keep(std::string line) {
  last_lines_.push_back(std::move(line));
  if (last_lines_.size() > kKeptLines) last_lines_.pop_front();
}

std::string EngineProcess::EndText() const {
  std::string text = WIFSIGNALED(status_)
                         ? fmt::format("it was ended by signal {} ({})", WTERMSIG(status_),
                                       ::strsignal(WTERMSIG(status_)))
                         : fmt::format("it has ended with status {}", WEXITSTATUS(status_));
  if (!last_lines_.empty()) text += "; its last lines:";
  for (const std::string& line : last_lines_) text += "\n" + ReplaceInvalidUtf8(line);
  constexpr int kNotFound = 127;  // exit status of shells, which ssh passes on
  if (WIFEXITED(status_) && WEXITSTATUS(status_) == kNotFound) {
    text +=
        "\nName the program on that machine: user@host:FOLDER/bin/midscope; a virtual "
        "environment is not active over ssh";
  }
  return text;
}

}  // namespace midscope
