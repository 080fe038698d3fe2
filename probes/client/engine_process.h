// SPDX-License-Identifier: MIT
// A running engine process and the requests that wait for its answers. Used only by EngineLink.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file_access.h"
#include "core/base/job.h"
#include "probes/serve/frames.h"
#include "probes/serve/message.h"

namespace midscope {

class EngineProcess {
 public:
  // Starts the process. Lines that a login shell prints may precede the first line of the protocol;
  // if that line never comes, the process is treated as ended, and the error contains the lines
  // that came instead. Throws Error (failure) if the process cannot be started.
  explicit EngineProcess(const std::vector<std::string>& words);
  // Closes the process's standard input; kills the process if it does not end within two seconds.
  ~EngineProcess();
  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  // Sends a request and returns its number.
  int64_t Send(const std::string& method, const Message& params);
  void Cancel(int64_t number);
  // Returns the next message about request `number`; waits at most `milliseconds`, then returns
  // null. After the process has ended and all messages were returned: throws EngineEnded.
  Message Next(int64_t number, int milliseconds);
  // Discards further messages about request `number`.
  void Forget(int64_t number);

  bool has_ended() const;
  int pid() const { return pid_; }

 private:
  // Skips lines that a login shell prints before the first line of the protocol. Returns false if
  // that line does not come.
  bool SkipGreeting();
  void ReadFrames();
  void ReadErrors();
  // Stores a line for the error message about the end of the process. Requires mutex_.
  void Keep(std::string line);
  // Describes how the process ended, with its last lines on standard error. Requires mutex_.
  std::string EndText() const;
  // Stores lines of the process's standard error until it has exited and no output is left.
  void ReadErrorLines();
  // Waits for the process, which has closed its output, and kills it if it does not exit.
  void TakeStatus();

  int pid_ = 0;
  std::unique_ptr<FileDescriptor> output_;  // the process's standard output
  std::unique_ptr<FileDescriptor> errors_;
  std::unique_ptr<FrameWriter> writer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, std::deque<Message>> waiting_;  // guarded by mutex_: messages by request
  int64_t last_number_ = 0;                         // guarded by mutex_
  std::deque<std::string> last_lines_;  // guarded by mutex_: the last lines on standard error
  bool exited_ = false;                 // guarded by mutex_
  bool errors_read_ = false;            // guarded by mutex_: all of standard error was read
  bool ended_ = false;                  // guarded by mutex_: exited and read, or no longer waiting
  int status_ = 0;                      // guarded by mutex_: exit status from waitpid
  std::thread error_reader_;
  std::thread reader_;  // last member, because it uses all others
};

}  // namespace midscope
