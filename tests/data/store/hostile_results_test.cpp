// SPDX-License-Identifier: MIT
// Hostile results files: each reader rejects them or reads them without harm.
#include "tests/data/support/hostile_results.h"

#include <gtest/gtest.h>

#include "tests/data/support/example_records.h"
#include "tests/data/support/read_results.h"

namespace midscope {
namespace {

class HostileResults : public ::testing::TestWithParam<test::HostileKind> {};

TEST_P(HostileResults, AreRefusedOrRead) {
  const TemporaryFolder folder;
  GetParam().write(folder.File(""));
  const test::ReadOutcome outcome = test::ReadInEveryWay(folder.File(""));
  EXPECT_EQ(outcome.other, "");
  if (GetParam().reading != test::Reading::kHarmless) {
    EXPECT_GT(outcome.refused, 0);
    // The message names the faulty file.
    EXPECT_NE(outcome.first_error.find(folder.File("")), std::string::npos) << outcome.first_error;
  }
  if (GetParam().reading == test::Reading::kRefused) {
    EXPECT_EQ(outcome.read, 0);
  } else {
    EXPECT_GT(outcome.read, 0) << outcome.first_error;
  }
}

std::string CaseName(const ::testing::TestParamInfo<test::HostileKind>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostileResults, ::testing::ValuesIn(test::HostileKinds()),
                         CaseName);

}  // namespace
}  // namespace midscope
