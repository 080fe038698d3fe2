// SPDX-License-Identifier: MIT
// The program midscope-reader as a child process. Internal to data/.
#pragma once

#include <sys/types.h>

#include <string>

namespace midscope {

// Beside the running program, beside this library's installation, or in PATH; "" where it does not
// exist.
std::string FindReaderProgram();

// midscope-reader for one file, with a socket to it. It inherits no open file and no signal mask,
// and does not receive the terminal's interrupts.
class ReaderChild {
 public:
  // Throws Error (failure) that names `path` where the program does not exist or can't be started.
  explicit ReaderChild(const std::string& path);
  // Ends it.
  ~ReaderChild();
  ReaderChild(const ReaderChild&) = delete;
  ReaderChild& operator=(const ReaderChild&) = delete;

  int socket() const { return socket_; }
  bool running() const { return process_ > 0; }
  // Ends it, unless it has ended by itself, and returns how it ended: "ended by signal 11".
  std::string End();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace midscope
