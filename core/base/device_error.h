// SPDX-License-Identifier: MIT
// A failure of a device that computes, where another device may do the same work.
#pragma once

#include <string>

#include "core/base/error.h"

namespace midscope {

class DeviceError : public Error {
 public:
  // `lost`: nothing runs on the device any more.
  DeviceError(bool lost, const std::string& thing, const std::string& reason,
              const std::string& remedy)
      : Error(ErrorKind::kFailure, thing, reason, remedy), lost_(lost) {}

  bool lost() const { return lost_; }

 private:
  bool lost_;
};

// The host's memory is too small for some work.
class MemoryError : public Error {
 public:
  MemoryError(const std::string& thing, const std::string& reason, const std::string& remedy)
      : Error(ErrorKind::kFailure, thing, reason, remedy) {}
};

}  // namespace midscope
