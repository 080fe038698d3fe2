// SPDX-License-Identifier: MIT
// Runs the built program `midscope` as a user does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/support/temporary_folder.h"

namespace midscope {

using test::TemporaryFolder;

struct ProgramRun {
  int status = 0;  // exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;
};

struct ProgramOptions {
  int64_t file_size_limit = 0;  // largest size of a file in bytes (RLIMIT_FSIZE); 0: no limit
  // Soft limit of open files, which a program may raise (RLIMIT_NOFILE); 0: unchanged.
  int64_t open_files_limit = 0;
  int64_t memory_limit = 0;         // bytes of address space (RLIMIT_AS); 0: no limit
  std::string standard_input = {};  // path of a file
  std::vector<std::pair<std::string, std::string>> environment = {};  // additional variables
};

using Arguments = std::vector<std::string>;
// The arguments followed by `more`.
Arguments With(Arguments arguments, const Arguments& more);

ProgramRun RunMidscope(const Arguments& arguments, const ProgramOptions& options = {});
// As above, expecting exit status 0.
ProgramRun RunWell(const Arguments& arguments, const ProgramOptions& options = {});

// A running program, to which signals can be sent.
class RunningProgram {
 public:
  explicit RunningProgram(const Arguments& arguments, const ProgramOptions& options = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void Signal(int number) const;
  bool Running();
  pid_t process() const { return process_; }
  ProgramRun Wait();

 private:
  pid_t process_ = -1;
  int raw_status_ = 0;
  TemporaryFolder folder_;
};

}  // namespace midscope
