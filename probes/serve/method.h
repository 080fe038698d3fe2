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
  // Describes the open model; valid only if has_model is true.
  ModelSummary model;

  // Returns the records as a list for an answer, and keeps arrays that are too large for the frame
  // until the client fetches them.
  Message RecordsMessage(const std::vector<Record>& records) {
    const std::lock_guard lock(mutex);
    return WireWriter(held).Write(records);
  }

  // Protects arrays and open results files, which methods use on several threads: lock it first.
  std::mutex mutex;
  HeldArrays held;
  std::map<int64_t, std::unique_ptr<RunReader>> files;
  int64_t last_file = 0;
  // Bytes of arrays that a client sends in slices, by the array number that the client chose.
  std::map<int64_t, std::vector<uint8_t>> received;

  // Protects results files that are read one sample at a time: lock `views_mutex` first; never lock
  // both mutexes at once.
  std::mutex views_mutex;
  std::map<std::string, std::unique_ptr<SampleView>> views;  // by path of the file

 private:
  std::unique_ptr<Engine> engine_;
};

inline constexpr int kProtocolVersion = 1;

// A running request of a client.
struct Call {
  const JsonFields& params;
  const JobContext& job;  // reports progress and messages to the client
  // Sends a partial result of the request to the client.
  std::function<void(Message part)> partial;
  // Sends a question about the running request to the client and returns the answer. Throws
  // Cancelled if the request is cancelled or the client disconnects, Error if the answer is an
  // error.
  std::function<Message(Message question)> ask;
};

struct MethodParameter {
  std::string name;
  std::string type;  // "text", "integer", "list of texts", ...
  std::string help;  // help text, with the default value
  bool required = false;
};

struct Method {
  std::string name;
  std::string summary;
  std::vector<MethodParameter> parameters;
  std::string result;   // description of a reply's member `result`
  std::string partial;  // description of member `partial`; "": no partial results
  // Whether the method runs beside those that use the model, which run one after another.
  bool runs_beside = false;
  Message (*run)(EngineSession& session, const Call& call) = nullptr;
};

// Returns all methods in documentation order: EngineMethods, FileMethods, ResultMethods.
const std::vector<Method>& Methods();
// Returns null if there is no method of that name.
const Method* FindMethod(const std::string& name);

// Returns the methods that use the model.
std::vector<Method> EngineMethods();
// Returns the methods for files on the engine's machine and for commands of the program.
std::vector<Method> FileMethods();
// Returns the methods that compute results for a window.
std::vector<Method> ResultMethods();

}  // namespace midscope
