// SPDX-License-Identifier: MIT
#include "probes/cli/picture_program.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/error.h"

namespace midscope::cli {
namespace {

constexpr const char* kProgram = "midscope-gui";

// Beside this program, or else as PATH finds it.
std::string ProgramPath() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path beside = self.parent_path() / kProgram;
    if (access(beside.c_str(), X_OK) == 0) return beside.string();
  }
  return kProgram;
}

}  // namespace

void DrawPictures(const std::string& address, const std::string& folder,
                  const std::string& format) {
  std::vector<std::string> arguments = {ProgramPath(), "--render", address, "--out",
                                        folder,        "--format", format};
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, pointers.front(), nullptr, nullptr, pointers.data(), environ);
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
}

}  // namespace midscope::cli
