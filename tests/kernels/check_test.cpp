// SPDX-License-Identifier: MIT
// Contract: a failed check throws std::logic_error that names the file relative to the repository's
// root, the line and both values; signed and unsigned numbers are compared by value. Kernels check
// their callers' contracts if MIDSCOPE_CHECK_KERNELS is defined.
#include "kernels/check.h"

#include <gmock/gmock.h>

#include "kernels/attention.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {
namespace {

using ::testing::MatchesRegex;

template <class Work>
std::string TextOf(const Work& work) {
  try {
    work();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Check, NamesThePlaceAndTheCondition) {
  const int rows = 3;
  EXPECT_THAT(TextOf([&] { MIDSCOPE_CHECK(rows > 4); }),
              MatchesRegex("tests/kernels/check_test\\.cpp:[0-9]+: rows > 4 does not hold"));
  EXPECT_THAT(TextOf([&] { MIDSCOPE_CHECK(rows > 4, "too few: " + std::to_string(rows)); }),
              MatchesRegex("tests/kernels/check_test\\.cpp:[0-9]+: too few: 3"));
  EXPECT_THAT(TextOf([&] { MIDSCOPE_BUG("no such term"); }),
              MatchesRegex("tests/kernels/check_test\\.cpp:[0-9]+: no such term"));
  EXPECT_EQ(TextOf([&] { MIDSCOPE_CHECK(rows == 3); }), "nothing was thrown");
}

TEST(Check, ShowsBothValues) {
  const size_t size = 575;
  const int64_t width = 576;
  EXPECT_THAT(TextOf([&] { MIDSCOPE_CHECK_EQ(size, width); }),
              MatchesRegex("tests/kernels/check_test\\.cpp:[0-9]+: size == width does not hold: "
                           "575 and 576"));
  const std::string name = "a";
  EXPECT_THAT(TextOf([&] { MIDSCOPE_CHECK_NE(name, "a"); }),
              MatchesRegex(".*: name != \"a\" does not hold: 'a' and 'a'"));
  EXPECT_THAT(TextOf([&] { MIDSCOPE_CHECK_GT(true, true); }),
              MatchesRegex(".* does not hold: true and true"));
}

TEST(Check, ComparesByValue) {
  const uint64_t none = 0;
  EXPECT_NO_THROW(MIDSCOPE_CHECK_LT(-1, none));
  EXPECT_NO_THROW(MIDSCOPE_CHECK_NE(-1, ~none));
  EXPECT_THROW(MIDSCOPE_CHECK_GE(-1, none), std::logic_error);
  EXPECT_THROW(MIDSCOPE_CHECK_LE(none, -1), std::logic_error);
  EXPECT_THROW(MIDSCOPE_CHECK_GT(1, 1), std::logic_error);
  EXPECT_NO_THROW(MIDSCOPE_CHECK_GE(1.5, 1.5));
}

TEST(Check, EvaluatesEachSideOnce) {
  int calls = 0;
  MIDSCOPE_CHECK_EQ(++calls, 1);
  EXPECT_EQ(calls, 1);
}

TEST(KernelChecks, HoldCallersToTheContract) {
#ifdef MIDSCOPE_CHECK_KERNELS
  kernels::AttentionShape shape;
  shape.query_rows = shape.key_rows = 1;
  shape.heads = 3;
  shape.key_value_heads = 2;
  shape.head_dim = 4;
  EXPECT_THAT(
      TextOf([&] { kernels::Attention(shape, {}, {}, {}, {}, {}, kernels::SerialExecutor()); }),
      MatchesRegex("kernels/key_sets\\.cpp:[0-9]+: shape\\.heads % "
                   "shape\\.key_value_heads == 0 does not hold: 1 and 0"));
  float out = 0;
  EXPECT_THROW(kernels::Dequantise(kernels::BlockType::kQ8_0, "", 31, &out), std::logic_error);
#else
  GTEST_SKIP() << "kernels check their callers in Debug and sanitizer builds only";
#endif
}

}  // namespace
}  // namespace midscope
