// SPDX-License-Identifier: MIT
// Test classes of Qt that share a program: each source registers its own, run_tests.cpp runs one.
#pragma once

#include <QObject>
#include <memory>

namespace midscope::test {

// Makes `make` the test of the source. Returns a value only because it initialises a constant.
bool RegisterTest(const char* source, std::unique_ptr<QObject> (*make)());

}  // namespace midscope::test

// In place of QTEST_MAIN.
#define MIDSCOPE_GUI_TEST(Class)                                                \
  [[maybe_unused]] static const bool registered = midscope::test::RegisterTest( \
      __FILE__, []() -> std::unique_ptr<QObject> { return std::make_unique<Class>(); });
