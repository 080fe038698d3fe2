// SPDX-License-Identifier: MIT
#include "core/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/base/error.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

OptionSet Options() {
  return OptionSet({
      {"out", ParameterKind::kFile, "where results go", "", {}, 0, 0, {}, true},
      {"samples", ParameterKind::kWholeNumber, "how many", "samples", {}, 1, 1000, int64_t{40}},
      {"scale", ParameterKind::kNumber, "a | b", "", {}, 0, 2, 0.1},
      {"dtype", ParameterKind::kChoice, "type", "", {"float32", "bfloat16"}, 0, 0, "float32"},
      {"with", ParameterKind::kTextList, "settings"},
      {"seed", ParameterKind::kWholeNumber, "seed"},
      {"json", ParameterKind::kFlag, "as JSON"},
  });
}

TEST(Options, DefaultsAndSetValues) {
  OptionSet options = Options();
  EXPECT_EQ(options.Integer("samples"), 40);
  EXPECT_FALSE(options.IsSet("samples"));
  EXPECT_TRUE(options.Has("samples"));
  EXPECT_FALSE(options.Has("seed"));
  EXPECT_FALSE(options.Flag("json"));
  EXPECT_EQ(options.Text("out"), "");
  EXPECT_TRUE(options.TextList("with").empty());

  options.SetText("samples", "7");
  options.SetText("with", "none");
  options.SetText("with", "pi(1.5)");
  options.SetText("json", "");
  options.SetText("scale", "1.25");
  EXPECT_EQ(options.Integer("samples"), 7);
  EXPECT_THAT(options.TextList("with"), ElementsAre("none", "pi(1.5)"));
  EXPECT_TRUE(options.Flag("json"));
  EXPECT_EQ(options.Number("scale"), 1.25);
  options.Reset("samples");
  EXPECT_EQ(options.Integer("samples"), 40);
}

TEST(Options, BadTextNamesOptionAndWhatIsAllowed) {
  OptionSet options = Options();
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("samples", "0"); }),
              AllOf(HasSubstr("--samples"), HasSubstr("1 to 1000")));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("samples", "4x"); }),
              HasSubstr("'4x'"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("samples", ""); }),
              HasSubstr("integer"));
  EXPECT_THAT(
      ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("samples", "99999999999999999999"); }),
      HasSubstr("integer"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("scale", "nan"); }),
              HasSubstr("--scale"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("scale", "inf"); }),
              HasSubstr("--scale"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("dtype", "bfloat61"); }),
              HasSubstr("'bfloat16'"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.SetText("json", "maybe"); }),
              HasSubstr("--json"));
  EXPECT_EQ(options.Integer("samples"), 40) << "a refused value changes nothing";
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.CheckRequired(); }),
              HasSubstr("--out"));
  options.SetText("out", "run.h5");
  EXPECT_NO_THROW(options.CheckRequired());
}

TEST(Options, WrongUseInTheProgramIsABug) {
  const OptionSet options = Options();
  EXPECT_THROW(options.Integer("nothing"), std::logic_error);
  EXPECT_THROW(options.Integer("dtype"), std::logic_error);
  EXPECT_THROW(options.Integer("seed"), std::logic_error) << "has no value";
  EXPECT_THROW(OptionSet({{"a"}, {"a"}}), std::logic_error);
  EXPECT_THROW(OptionSet({{"n", ParameterKind::kWholeNumber, "", "", {}, 1, 2, int64_t{3}}}),
               std::logic_error);
  EXPECT_THROW(OptionSet({{"n", ParameterKind::kWholeNumber, "", "", {}, 1, 2, 1.5}}),
               std::logic_error);
}

TEST(Options, JsonRoundTrip) {
  OptionSet options = Options();
  options.SetText("with", "channel(100, factor=-1) \"x\"");
  options.SetText("scale", "0.30000000000000004");
  options.SetText("seed", "-9223372036854775808");
  options.SetText("json", "true");
  OptionSet read = Options();
  read.FromJson(options.ToJson());
  EXPECT_EQ(read.ToJson(), options.ToJson());
  EXPECT_EQ(read.Number("scale"), 0.30000000000000004);
  EXPECT_EQ(read.Integer("seed"), INT64_MIN);
  EXPECT_THAT(options.ToJson(), HasSubstr(R"("samples":40)"));
  EXPECT_THAT(options.ToJson(), Not(HasSubstr("\"out\""))) << "no value, not written";
}

TEST(Options, JsonLeavesOutDefaultsThatAreNotAlwaysStated) {
  Parameter rare{"rare", ParameterKind::kWholeNumber, "", "", {}, 1, 9, int64_t{3}};
  rare.always_stated = false;
  OptionSet options({rare});
  EXPECT_EQ(options.ToJson(), "{}");
  options.SetText("rare", "4");
  EXPECT_EQ(options.ToJson(), R"({"rare":4})");
}

TEST(Options, JsonErrors) {
  OptionSet options = Options();
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.FromJson("{"); }), HasSubstr("JSON"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.FromJson("[1]"); }), HasSubstr("JSON"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.FromJson(R"({"sampels": 3})"); }),
              HasSubstr("'samples'"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.FromJson(R"({"samples": 1.5})"); }),
              HasSubstr("--samples"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.FromJson(R"({"with": [1]})"); }),
              HasSubstr("--with"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { options.FromJson(R"({"scale": null})"); }),
              HasSubstr("--scale"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage,
                           [&] { options.FromJson(R"({"samples": 18446744073709551615})"); }),
              HasSubstr("--samples"));
  EXPECT_THAT(
      ErrorMessage(ErrorKind::kUsage, [&] { options.FromJson(R"({"samples": 5, "scale": 9})"); }),
      HasSubstr("--scale"));
  EXPECT_EQ(options.Integer("samples"), 40) << "all or nothing";
  options.FromJson(R"({"scale": 1})");
  EXPECT_EQ(options.Number("scale"), 1.0);
}

}  // namespace
}  // namespace midscope
