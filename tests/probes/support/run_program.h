// SPDX-License-Identifier: MIT
// The built program `midscope`, run as a user runs it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace midscope::testing {

struct ProgramRun {
  int status = 0;  // exit status; 128 + signal where one ended it
  std::string out;
  std::string err;
};

struct ProgramOptions {
  int64_t file_size_limit = 0;      // bytes that one file may take (RLIMIT_FSIZE); 0: no limit
  int64_t open_files_limit = 0;     // that a program may raise (RLIMIT_NOFILE); 0: no other
  int64_t memory_limit = 0;         // bytes of addresses (RLIMIT_AS); 0: no limit
  std::string standard_input = {};  // a file
  std::vector<std::pair<std::string, std::string>> environment = {};  // variables that are set, too
};

using Arguments = std::vector<std::string>;
// The arguments with `more` behind them.
Arguments With(Arguments arguments, const Arguments& more);

ProgramRun RunMidscope(const Arguments& arguments, const ProgramOptions& options = {});
// As above, expecting exit status 0.
ProgramRun RunWell(const Arguments& arguments, const ProgramOptions& options = {});

// A running program, for signals.
class RunningProgram {
 public:
  explicit RunningProgram(const Arguments& arguments, const ProgramOptions& options = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void Signal(int number) const;
  bool Running();
  ProgramRun Wait();

 private:
  pid_t process_ = -1;
  int raw_status_ = 0;
  std::filesystem::path folder_;
};

// An empty folder that goes when the object does.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace midscope::testing
