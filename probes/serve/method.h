// SPDX-License-Identifier: MIT
// The methods of the engine protocol, and the state of an engine process between requests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/base/json_fields.h"
#include "data/store/record_reader.h"
#include "data/sweep/sample_view.h"
#include "probes/engine/engine.h"
#include "probes/serve/message.h"
#include "probes/serve/wire_arrays.h"

namespace midscope {

class EngineSession {
 public:
  explicit EngineSession(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Engine& engine() { return *engine_; }
  bool has_model = false;
  bool has_prompt = false;
  // Describes the open model; valid if has_model.
  ModelSummary model;

  // Returns the records as a list for an answer, and holds the arrays for which a frame has no
  // space.
  Message RecordsMessage(const std::vector<Record>& records) {
    const std::lock_guard lock(mutex);
    return WireWriter(held).Write(records);
  }

  // Arrays and open results files, which methods on several threads use: lock `mutex` first.
  std::mutex mutex;
  HeldArrays held;
  std::map<int64_t, std::unique_ptr<RunReader>> files;
  int64_t last_file = 0;
  // Bytes of arrays that a client sends in slices, by the numbers that it gave them.
  std::map<int64_t, std::vector<uint8_t>> received;

  // Files that are read one sample at a time: lock `views_mutex` first, not both mutexes.
  std::mutex views_mutex;
  std::map<std::string, std::unique_ptr<SampleView>> views;  // by path

 private:
  std::unique_ptr<Engine> engine_;
};

inline constexpr int kProtocolVersion = 1;

// A running request.
struct Call {
  const JsonFields& params;
  const JobContext& job;  // reports progress and messages to the client
  // Sends a partial result.
  std::function<void(Message part)> partial;
  // Sends a question about the request and returns the client's answer. Throws Cancelled if the
  // request is cancelled or the client leaves, Error if the client answers with an error.
  std::function<Message(Message question)> ask;
};

struct MethodParameter {
  std::string name;
  std::string type;  // "text", "integer", "list of texts", ...
  std::string help;  // with the default
  bool required = false;
};

struct Method {
  std::string name;
  std::string summary;
  std::vector<MethodParameter> parameters;
  std::string result;   // what `result` holds
  std::string partial;  // what `partial` holds; "": there are no partial results
  // Whether the request runs beside those of the engine, which run one after the other.
  bool runs_beside = false;
  Message (*run)(EngineSession& session, const Call& call) = nullptr;
};

// Returns all methods, in the order of the documentation. Each has its entry in one of the lists
// below.
const std::vector<Method>& Methods();
// Returns null if there is no method of that name.
const Method* FindMethod(const std::string& name);

// Methods that use the model.
std::vector<Method> EngineMethods();
// Methods for the engine's files and for commands of the program.
std::vector<Method> FileMethods();
// Methods for results that a window shows.
std::vector<Method> ResultMethods();

}  // namespace midscope
