// SPDX-License-Identifier: MIT
// Reads a results file with HDF5 in another process with limits on memory and time: on some damaged
// files, HDF5 1.10 crashes, loops or exhausts the memory. Replies of that process are checked like
// a foreign file. The process is the program `midscope`, started as `midscope --reader FILE` with a
// socket as its standard input. Internal to data/.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "data/store/run_source.h"

namespace midscope {

inline constexpr const char* kReaderArgument = "--reader";

// Opens a results file through a reader process. Throws Error (failure) if the file can't be read
// or the program `midscope` does not exist.
std::unique_ptr<RunSource> OpenRunApart(const std::string& path);

// Returns the path of the program `midscope` in the folder of the running program, which may be
// `midscope` itself; "" if it does not exist.
std::string FindReaderProgram();

// A reader process for one file, and a socket to it. The process inherits no open files and no
// signal mask, and does not receive the terminal's interrupts.
class ReaderChild {
 public:
  // Starts the process for the file `path`. Throws Error (failure), which names `path`, if the
  // program does not exist or can't be started.
  explicit ReaderChild(const std::string& path);
  // Ends the process.
  ~ReaderChild();
  ReaderChild(const ReaderChild&) = delete;
  ReaderChild& operator=(const ReaderChild&) = delete;

  int socket() const { return socket_; }
  bool running() const { return process_ > 0; }
  // Kills the process if it is still running; returns how it ended: "was ended by signal 11".
  std::string End();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace midscope
