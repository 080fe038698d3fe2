// SPDX-License-Identifier: MIT
// The main function of the programs of window tests. A program contains the tests of a folder; it
// runs those of one source, NAME.cpp, selected by --source=NAME, with the remaining arguments
// passed to QTest.
#include "tests/gui/support/run_tests.h"

#include <QApplication>
#include <QTest>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/base/end_process.h"

namespace midscope::test {
namespace {

using Tests = std::map<std::string, std::unique_ptr<QObject> (*)()>;

Tests& AllTests() {
  static Tests tests;
  return tests;
}

}  // namespace

bool RegisterTest(const char* source, std::unique_ptr<QObject> (*make)()) {
  return AllTests().emplace(std::filesystem::path(source).stem().string(), make).second;
}

}  // namespace midscope::test

int main(int argc, char** argv) {
  constexpr std::string_view kSource = "--source=";
  const std::string_view first = argc > 1 ? argv[1] : "";
  const auto& tests = midscope::test::AllTests();
  const auto test = tests.find(std::string(first.substr(std::min(first.size(), kSource.size()))));
  if (!first.starts_with(kSource) || test == tests.end()) {
    std::fprintf(stderr, "usage: %s --source=NAME [arguments of QTest]; NAME is one of\n", argv[0]);
    for (const auto& [name, make] : tests) std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
  }
  argv[1] = argv[0];
  int status = 0;
  {
    const QApplication application(--argc, ++argv);
    QTEST_SET_MAIN_SOURCE_PATH
    status = QTest::qExec(test->second().get(), argc, argv);
  }
  return midscope::EndProcess(status);
}
