// SPDX-License-Identifier: MIT
// The main function of all test programs. A program contains the tests of a folder; with
// --source=NAME it runs only those of NAME.cpp, which is how CTest separates them. The variable
// MIDSCOPE_TEST_LOCALE sets a locale for all of them, as a GUI toolkit would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/end_process.h"

namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in CMake

// A GoogleTest filter for the tests in that source; "" if there are none.
std::string FilterOf(std::string_view source) {
  std::string filter;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::filesystem::path(test.file()).stem() != source) continue;
      filter += std::string(filter.empty() ? "" : ":") + suite.name() + "." + test.name();
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const char* locale = std::getenv("MIDSCOPE_TEST_LOCALE");
  if (locale != nullptr && std::setlocale(LC_ALL, locale) == nullptr) {
    std::printf("skipped: locale %s is not installed, and localedef did not make it\n", locale);
    return kSkipped;
  }
  constexpr std::string_view kSource = "--source=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kSource)) {
      std::fprintf(stderr, "%s: unknown argument\n", argv[i]);
      return 2;
    }
    const std::string filter = FilterOf(argument.substr(kSource.size()));
    if (filter.empty()) {
      std::fprintf(stderr, "%s: there are no tests of this source\n", argv[i]);
      return 2;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return midscope::EndProcess(RUN_ALL_TESTS());
}
