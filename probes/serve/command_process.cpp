// SPDX-License-Identifier: MIT
#include "probes/serve/command_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "probes/base/private_folder.h"

namespace midscope {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};
constexpr size_t kKeptLines = 200;

// Follows the lines that the process appends to a file.
class FollowedLines {
 public:
  explicit FollowedLines(const std::string& path) : file_(path, std::ios::binary) {}

  template <typename OnLine>
  void Read(const OnLine& on_line) {
    file_.clear();
    for (char byte = 0; file_.get(byte);) {
      if (byte != '\n') {
        line_ += byte;
        continue;
      }
      on_line(line_);
      line_.clear();
    }
  }

 private:
  std::ifstream file_;
  std::string line_;
};

// Standard output and standard error are files and not pipes, so that a process that outlives this
// one can go on writing.
void Start(const std::vector<std::string>& arguments, const std::string& out,
           const std::string& err, pid_t& process) {
  std::vector<std::string> words = {"midscope"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--progress", "json"});
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kNewFile = O_WRONLY | O_CREAT | O_TRUNC;
  constexpr mode_t kOwnerOnly = 0600;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kNewFile, kOwnerOnly);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kNewFile, kOwnerOnly);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const int failed =
      ::posix_spawn(&process, "/proc/self/exe", &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    throw Failure("midscope " + (arguments.empty() ? "" : arguments.front()),
                  std::string("it cannot be started: ") + std::strerror(failed));
  }
}

void ReportLine(const std::string& line, const JobContext& context, std::deque<std::string>& last) {
  const nlohmann::json json =
      line.starts_with("{") ? nlohmann::json::parse(line, nullptr, false) : nlohmann::json();
  if (json.is_object() && json.contains("stage")) {
    context.Report({json.value("stage", ""), json.value("done", int64_t{0}),
                    json.value("total", int64_t{0}), json.value("unit", "")});
    return;
  }
  context.Log(line);
  last.push_back(line);
  if (last.size() > kKeptLines) last.pop_front();
}

std::string WholeText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Message RunCommandProcess(const std::vector<std::string>& arguments, const JobContext& context) {
  const PrivateFolder folder;
  const std::string out = folder.File("out");
  pid_t process = 0;
  Start(arguments, out, folder.File("err"), process);
  FollowedLines lines(folder.File("err"));
  std::deque<std::string> last;
  const auto read = [&] {
    lines.Read([&](const std::string& line) { ReportLine(line, context, last); });
  };
  int status = 0;
  bool interrupted = false;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (context.cancelled() && !interrupted) {
      ::kill(process, SIGINT);
      interrupted = true;
    }
    read();
    std::this_thread::sleep_for(kPollInterval);
  }
  read();
  std::string err;
  for (const std::string& line : last) err += line + "\n";
  const int signal_base = 128;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
  return {{"status", code}, {"out", WholeText(out)}, {"err", err}};
}

}  // namespace midscope
