// SPDX-License-Identifier: MIT
// What a call throws, as text, for assertions about messages.
#pragma once

#include <string>

#include "core/error.h"

namespace midscope::test {

// The message of the Error that `call` throws; "" where it throws none. Other exceptions pass
// through and fail the test.
template <typename Call>
std::string ErrorMessage(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace midscope::test
