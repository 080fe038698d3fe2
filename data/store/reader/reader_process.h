// SPDX-License-Identifier: MIT
// Reads a results file by HDF5 in another process, midscope-reader, under limits of memory and
// time: HDF5 1.10 crashes, loops and exhausts the memory on some damaged files. Its replies are not
// trusted more than the file. Internal to data/.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "data/store/run_source.h"

namespace midscope {

// Throws Error (failure) for a file that can't be read, or if midscope-reader is not installed.
std::unique_ptr<RunSource> OpenRunApart(const std::string& path);

// The program midscope-reader as a child process. Internal to data/.

// Beside the running program, beside this library's installation, or in PATH; "" if it does not
// exist.
std::string FindReaderProgram();

// midscope-reader for one file, with a socket to it. It inherits no open file and no signal mask,
// and does not receive the terminal's interrupts.
class ReaderChild {
 public:
  // Throws Error (failure) that names `path` if the program does not exist or can't be started.
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
