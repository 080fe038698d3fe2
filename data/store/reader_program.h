// SPDX-License-Identifier: MIT
// The program midscope-reader as a child process. Internal to data/.
#pragma once

#include <sys/types.h>

#include <string>

namespace midscope {

// Beside the running program, beside where this library is installed, or as PATH finds it; "" where
// it is nowhere.
std::string FindReaderProgram();

// midscope-reader of one file, with a socket to it. It inherits no open file and no signal mask,
// and is not reached by the terminal's interrupts.
class ReaderChild {
 public:
  // Throws Error (failure) that names `path` where the program is not there or can't be started.
  explicit ReaderChild(const std::string& path);
  // Ends it.
  ~ReaderChild();
  ReaderChild(const ReaderChild&) = delete;
  ReaderChild& operator=(const ReaderChild&) = delete;

  int socket() const { return socket_; }
  bool running() const { return process_ > 0; }
  // Ends it, if it has not ended by itself, and says how it ended: "ended by signal 11".
  std::string End();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace midscope
