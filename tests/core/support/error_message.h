// SPDX-License-Identifier: MIT
// The message that a call throws, for assertions.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"

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

// Likewise, where it must be of one kind.
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
