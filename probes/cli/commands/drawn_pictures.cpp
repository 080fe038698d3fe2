// SPDX-License-Identifier: MIT
#include "probes/cli/commands/drawn_pictures.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "core/base/error.h"
#include "probes/base/private_folder.h"
#include "probes/client/engine_command.h"

namespace midscope::cli {
namespace {

constexpr const char* kProgram = "midscope-gui";

// Settings of the child process. Its standard output is closed because it would print paths; it
// gets a runtime folder because Qt reports a missing one on standard error.
class ChildSettings {
 public:
  explicit ChildSettings(const std::string& runtime_folder)
      : runtime_folder_("XDG_RUNTIME_DIR=" + runtime_folder) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (char** variable = environ; *variable; ++variable) environment_.push_back(*variable);
    if (!std::getenv("XDG_RUNTIME_DIR")) environment_.push_back(runtime_folder_.data());
    environment_.push_back(nullptr);
  }
  ~ChildSettings() { posix_spawn_file_actions_destroy(&actions_); }
  ChildSettings(const ChildSettings&) = delete;
  ChildSettings& operator=(const ChildSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  char* const* environment() const { return environment_.data(); }

 private:
  posix_spawn_file_actions_t actions_{};
  std::string runtime_folder_;
  std::vector<char*> environment_;
};

// Waits for the child process and returns its exit status; ends it on cancellation and at the time
// limit. Throws Cancelled; Error (failure) at the limit.
int WaitForChild(pid_t child, const PictureRequest& request, const JobContext& job) {
  constexpr auto kPoll = std::chrono::milliseconds(20);
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    const bool late = request.limit && std::chrono::steady_clock::now() - begin > *request.limit;
    if (late || job.cancelled()) {
      ::kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      job.ThrowIfCancelled();
      throw Failure(request.address, fmt::format("{} took longer than {} s to draw it", kProgram,
                                                 request.limit->count()));
    }
    std::this_thread::sleep_for(kPoll);
  }
  return status;
}

}  // namespace

bool CanDrawPictures() { return !FindProgram(kProgram).empty(); }

std::vector<std::string> DrawPictures(const PictureRequest& request, const std::string& folder,
                                      const JobContext& job) {
  const std::string program = FindProgram(kProgram);
  if (program.empty()) {
    throw Failure("pictures", std::string(kProgram) + " draws them, and it is not installed",
                  "Build it (MIDSCOPE_GUI=ON), or take --format csv, json or npz");
  }
  std::vector<std::string> arguments = {program, "--render", request.address, "--out",
                                        folder,  "--format", request.format};
  for (const std::string& file : request.references)
    arguments.insert(arguments.end(), {"--reference", file});
  if (!request.heads.empty()) arguments.insert(arguments.end(), {"--head", request.heads});
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const PrivateFolder runtime_folder;  // Qt warns about one that others can read
  const ChildSettings settings(runtime_folder.path().string());
  pid_t child = 0;
  const int error = posix_spawn(&child, pointers.front(), settings.actions(), nullptr,
                                pointers.data(), settings.environment());
  if (error != 0)
    throw Failure(kProgram, std::string("cannot be started: ") + std::strerror(error));
  const int status = WaitForChild(child, request, job);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Failure(request.address, std::string(kProgram) + " could not draw it");
  }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace midscope::cli
