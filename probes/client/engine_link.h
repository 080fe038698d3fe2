// SPDX-License-Identifier: MIT
// The connection to an engine process (probes/engine/PROTOCOL.md).
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/client/engine_command.h"
#include "probes/engine/engine.h"
#include "probes/serve/message.h"

namespace midscope {

class EngineProcess;

// Starts the engine process for the first request, and again for the next request after the process
// has ended. Thread-safe: requests of several threads share the process.
class EngineLink {
 public:
  explicit EngineLink(EngineCommand command);
  // Closes the process's standard input, which ends the process; kills it if it does not end.
  ~EngineLink();
  EngineLink(const EngineLink&) = delete;
  EngineLink& operator=(const EngineLink&) = delete;

  using OnPartial = std::function<void(const Message& part)>;
  // Sends a request and returns its result. Reports progress and log to `context`, and partial
  // results to `on_partial`, all on the calling thread. Throws the engine's error, Cancelled,
  // EngineEnded, and Error (failure) if the process cannot be started or speaks another protocol.
  // If `process` is not 0, it must be the number of the running process: throws EngineEnded
  // otherwise.
  Message Call(const std::string& method, const Message& params = Message::object(),
               const JobContext& context = {}, const OnPartial& on_partial = {},
               int64_t process = 0);

  // Reads the records of a result, and fetches the arrays that were sent without data.
  std::vector<Record> Records(const Message& messages);

  // Returns a number for the running engine process: 1 for the first one that was started, 2 for
  // the next, ...; 0 if none is running.
  int64_t process() const;
  // Returns the operating system's id of the process; 0 if none is running.
  int pid() const;
  const EngineCommand& command() const { return command_; }

 private:
  // Returns the running process; starts one if there is none.
  std::shared_ptr<EngineProcess> Running();

  const EngineCommand command_;
  std::mutex start_mutex_;  // held while a process starts
  mutable std::mutex mutex_;
  std::shared_ptr<EngineProcess> running_;  // guarded by mutex_
  int64_t started_ = 0;                     // guarded by mutex_
};

// Calls `read`, which reads an answer of the engine, and converts exceptions about missing or wrong
// members to an Error (failure).
template <typename Function>
auto ReadAnswer(const Function& read) -> decltype(read()) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    throw Failure("engine", std::string("it sent a damaged answer: ") + error.what());
  }
}

// Fetches the bytes of an array of which an answer has only a handle, in slices, and releases it.
std::vector<uint8_t> FetchHeld(EngineLink& link, int64_t handle, int64_t bytes);

}  // namespace midscope
