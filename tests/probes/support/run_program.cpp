// SPDX-License-Identifier: MIT
#include "tests/probes/support/run_program.h"
#include "tests/paths.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace midscope {
namespace {

void Redirect(const std::string& path, int flags, int descriptor) {
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(127);
}

[[noreturn]] void BecomeProgram(std::vector<char*> argv, const ProgramOptions& options,
                                const std::filesystem::path& folder) {
  Redirect(options.standard_input.empty() ? "/dev/null" : options.standard_input, O_RDONLY, 0);
  Redirect((folder / "out").string(), O_WRONLY | O_CREAT, 1);
  Redirect((folder / "err").string(), O_WRONLY | O_CREAT, 2);
  if (options.file_size_limit > 0) {
    // If its signal is ignored, write() beyond the limit fails as on a full disk.
    const auto bytes = static_cast<rlim_t>(options.file_size_limit);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  if (options.open_files_limit > 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(options.open_files_limit);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (options.memory_limit > 0) {
    const auto bytes = static_cast<rlim_t>(options.memory_limit);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  // Long lines are not wrapped unless a test is about their width.
  ::setenv("COLUMNS", "400", 0);
  // Tests share the machine with other tests, so waiting threads should sleep soon.
  ::setenv("GOMP_SPINCOUNT", "3000", 0);
  ::execv(argv.front(), argv.data());
  ::_exit(127);
}

}  // namespace

Arguments With(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

RunningProgram::RunningProgram(const Arguments& arguments, const ProgramOptions& options) {
  Arguments words = With({MIDSCOPE_PROGRAM}, arguments);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  process_ = ::fork();
  if (process_ == 0) BecomeProgram(argv, options, folder_.path());
}

RunningProgram::~RunningProgram() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

// After the process has ended, there is no id: kill(-1) would signal every process of the machine.
void RunningProgram::Signal(int number) const {
  if (process_ > 0) ::kill(process_, number);
}

bool RunningProgram::Running() {
  if (process_ > 0 && ::waitpid(process_, &raw_status_, WNOHANG) == process_) process_ = -1;
  return process_ > 0;
}

ProgramRun RunningProgram::Wait() {
  if (process_ > 0) ::waitpid(process_, &raw_status_, 0);
  process_ = -1;
  const int status =
      WIFEXITED(raw_status_) ? WEXITSTATUS(raw_status_) : 128 + WTERMSIG(raw_status_);
  return {status, folder_.Read("out"), folder_.Read("err")};
}

ProgramRun RunMidscope(const Arguments& arguments, const ProgramOptions& options) {
  return RunningProgram(arguments, options).Wait();
}

ProgramRun RunWell(const Arguments& arguments, const ProgramOptions& options) {
  ProgramRun run = RunMidscope(arguments, options);
  EXPECT_EQ(run.status, 0) << run.err;
  return run;
}

}  // namespace midscope
