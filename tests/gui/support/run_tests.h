// SPDX-License-Identifier: MIT
// Registry for Qt test classes that share one program: each source registers its class, and
// run_tests.cpp runs one of them.
#pragma once

#include <QObject>
#include <memory>

namespace midscope::test {

// Registers `make` as the factory of the source's test. The return value is meaningless; it allows
// a call in the initialiser of a constant.
bool RegisterTest(const char* source, std::unique_ptr<QObject> (*make)());

template <typename Test>
struct Registered {
  static const bool done;
};

}  // namespace midscope::test

// Used instead of QTEST_MAIN.
#define MIDSCOPE_GUI_TEST(Class)                                                     \
  template <>                                                                        \
  const bool midscope::test::Registered<Class>::done = midscope::test::RegisterTest( \
      __FILE__, []() -> std::unique_ptr<QObject> { return std::make_unique<Class>(); });
