// SPDX-License-Identifier: MIT
#include "probes/cli/picture_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/base/error.h"

namespace midscope::cli {
namespace {

constexpr const char* kProgram = "midscope-gui";

// Beside this program, else in PATH.
std::string ProgramPath() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path beside = self.parent_path() / kProgram;
    if (access(beside.c_str(), X_OK) == 0) return beside.string();
  }
  return kProgram;
}

// Standard output is closed in the child, which would print its own paths; it gets a runtime
// folder, whose absence Qt reports on standard error.
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

}  // namespace

std::vector<std::string> DrawPictures(const std::string& address, const std::string& folder,
                                      const std::string& format,
                                      const std::vector<std::string>& references) {
  std::vector<std::string> arguments = {ProgramPath(), "--render", address, "--out",
                                        folder,        "--format", format};
  for (const std::string& file : references)
    arguments.insert(arguments.end(), {"--reference", file});
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const ChildSettings settings(folder);
  pid_t child = 0;
  const int error = posix_spawnp(&child, pointers.front(), settings.actions(), nullptr,
                                 pointers.data(), settings.environment());
  if (error == ENOENT) {
    throw Failure("pictures", std::string(kProgram) + " draws them, and it is not installed",
                  "Build it (MIDSCOPE_GUI=ON), or take --format csv, json or npz");
  }
  if (error != 0) throw Failure(kProgram, std::string("can't be started: ") + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Failure(address, std::string(kProgram) + " could not draw it");
  }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace midscope::cli
