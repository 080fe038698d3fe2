// SPDX-License-Identifier: MIT
// A method of the engine protocol.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/json_fields.h"
#include "probes/serve/engine_session.h"
#include "probes/serve/message.h"

namespace midscope {

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
