// SPDX-License-Identifier: MIT
// The one exception that Midscope throws on purpose: something outside the program is wrong. Its
// text names the thing, the reason and the remedy. A bug throws std::logic_error; std::bad_alloc
// and others pass through.
#pragma once

#include <stdexcept>
#include <string>

namespace midscope {

// Selects the exit status of a command line: kUsage for a request that cannot be understood (2),
// kFailure for one that failed (1).
enum class ErrorKind { kUsage, kFailure };

class Error : public std::runtime_error {
 public:
  // what() reads "thing: reason. remedy" (the remedy may be empty).
  Error(ErrorKind kind, const std::string& thing, const std::string& reason,
        const std::string& remedy = "")
      : std::runtime_error(thing + ": " + reason + (remedy.empty() ? "" : ". " + remedy)),
        kind_(kind),
        problem_length_(thing.size() + 2 + reason.size()) {}

  ErrorKind kind() const { return kind_; }
  // Returns "thing: reason", without the remedy.
  std::string problem() const { return std::string(what()).substr(0, problem_length_); }

 private:
  ErrorKind kind_;
  size_t problem_length_;  // copying an exception must not throw, so no string is stored
};

inline Error UsageError(const std::string& thing, const std::string& reason,
                        const std::string& remedy = "") {
  return {ErrorKind::kUsage, thing, reason, remedy};
}

inline Error Failure(const std::string& thing, const std::string& reason,
                     const std::string& remedy = "") {
  return {ErrorKind::kFailure, thing, reason, remedy};
}

// Thrown by long work when its context has been cancelled; a Job turns it into `cancelled`.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

// A failure of a compute device; another device may be able to do the same work.
class DeviceError : public Error {
 public:
  // `lost`: whether the device can run no further work.
  DeviceError(bool lost, const std::string& thing, const std::string& reason,
              const std::string& remedy)
      : Error(ErrorKind::kFailure, thing, reason, remedy), lost_(lost) {}

  bool lost() const { return lost_; }

 private:
  bool lost_;
};

// Thrown if the host's memory is too small for some work.
class MemoryError : public Error {
 public:
  MemoryError(const std::string& thing, const std::string& reason, const std::string& remedy)
      : Error(ErrorKind::kFailure, thing, reason, remedy) {}
};

// Messages by which the outermost handlers report exceptions other than Error, which are bugs.
inline std::string BugProblem(const std::string& what) { return "internal error: " + what; }

inline std::string BugMessage(const std::string& what) {
  return BugProblem(what) + ". This is a bug in Midscope: report it with this text and the command";
}

}  // namespace midscope
