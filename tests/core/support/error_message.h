// SPDX-License-Identifier: MIT
// Returns the message of an error that a call throws, for assertions.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"

namespace midscope::test {

// The message of the Error that `call` throws; "" if it throws nothing. Other exceptions propagate
// and fail the test.
template <typename Call>
std::string ErrorMessage(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// As above, for an Error that must be of the given kind.
template <typename Call>
std::string ErrorMessage(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

}  // namespace midscope::test
