// SPDX-License-Identifier: MIT
// Files of position ids, and the edit `positions` as text: parsing, printing and rejected inputs.
// The effect of ids on runs is tested in tests/core/decoder/positions_test.cpp.

#include "core/intervention/position_id_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/plan/run_positions.h"
#include "core/positions/position_sampler.h"
#include "core/terms/intervention_json.h"
#include "core/terms/intervention_text.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Call>
std::string ErrorOf(const Call& call) {
  try {
    call();
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

std::string IdsError(const std::string& text) {
  return ErrorOf([&] { ParseIntervention(text); });
}

std::string Printed(const std::string& text) { return PrintIntervention(ParseIntervention(text)); }

TEST(PositionIdFile, TakesTextAndJson) {
  for (const char* text : {"0 1.5 7 3", "0,1.5,7,3", "\n 0, 1.5\r\n7\t3e0\n", "[0, 1.5, 7, 3]",
                           " [0,1.5,7,3.0]\n", R"({"positions": [[0, 1.5, 7, 3]], "tokens": 4})"}) {
    EXPECT_THAT(ParsePositionIds("F", text), ElementsAre(0, 1.5, 7, 3)) << text;
  }
}

TEST(PositionIdFile, NamesFileNumberAndRemedy) {
  const auto says = [](const std::string& text, const char* what) {
    EXPECT_THAT(ErrorOf([&] { ParsePositionIds("ids.txt", text); }),
                AllOf(HasSubstr("ids.txt: "), HasSubstr(what)))
        << text;
  };
  says("", "no position ids");
  says(" ,\n", "no position ids");
  says("[]", "no position ids");
  says("0 1 x 3", "number 3 is 'x', which is not a number");
  says("0 1 2a", "number 3 is '2a', which is not a number");
  says("0 nan", "number 2 is nan: a position id must be from 0 to 1000000000");
  says("0 inf", "number 2 is inf");
  says("0 -1", "number 2 is -1");
  says("0 1e10", "number 2 is 10000000000");
  says("[0, \"1\"]", ", which is not a number");
  says("[0, null]", ", which is not a number");
  says("[[0, 1]]", "number 1 is '[0,1]', which is not a number");
  says("[0, 1", "not JSON");
  says("{\"ids\": [0]}", "no list \"positions\"");
  says("{\"positions\": [[0], [1]]}", "2 samples");
  says("{\"positions\": []}", "0 samples");
  std::string many;
  for (int i = 0; i < (1 << 22) + 1; ++i) many += "1 ";
  says(many, "more than 4194304 ids");
}

TEST(PositionIdFile, DigestIsOfTheNumbers) {
  EXPECT_EQ(PositionIdDigest({0, 1.5}), PositionIdDigest(ParsePositionIds("F", "0 1.50")));
  const std::set<std::string> digests = {PositionIdDigest({0, 1.5}), PositionIdDigest({0, 1, 5}),
                                         PositionIdDigest({0, 1.5, 0}), PositionIdDigest({1.5, 0})};
  EXPECT_EQ(digests.size(), 4u);
  EXPECT_EQ(PositionIdDigest({1}).size(), 16u);
}

// The name is printed, the numbers are what compares.
TEST(PositionsText, OfAFileIsItsContents) {
  const std::string folder = ::testing::TempDir();
  const std::string file = folder + "/position ids.txt";
  std::ofstream(file) << "0 2 4.5\n";
  std::ofstream(folder + "/same.json") << "[0, 2, 4.5]";
  const Intervention read = ParseIntervention("positions(file=\"" + file + "\") + pi(2)");
  ASSERT_EQ(read.All<GivenPositions>().size(), 1u);
  EXPECT_THAT(read.Find<GivenPositions>()->ids, ElementsAre(0, 2, 4.5));
  EXPECT_EQ(read, ParseIntervention("pi(2) + positions(file=" + folder + "/same.json)"));
  const std::string text = PrintIntervention(read);
  EXPECT_THAT(text, AllOf(HasSubstr("pi(2) + positions(file=\"" + file + "\", digest="),
                          HasSubstr(PositionIdDigest({0, 2, 4.5}))));
  EXPECT_EQ(ParseIntervention(text), read);
  EXPECT_EQ(ParseIntervention(InterventionToJson(read)), read);
  EXPECT_THAT(IdsError("positions(file=" + folder + "/same.json, seed=2)"),
              HasSubstr("'seed' is of samplers"));
  EXPECT_EQ(ParseIntervention("pi(2) + positions(file=" + folder + "/same.json, factor=8, seed=1)"),
            read);
  std::ofstream(file) << "0 2 4.6\n";
  EXPECT_THAT(IdsError(text), AllOf(HasSubstr("others now"), HasSubstr("position ids.txt")));
  EXPECT_NE(ParseIntervention("positions(file=\"" + file + "\") + pi(2)"), read);
  std::ofstream(file) << "0 2 -4\n";
  EXPECT_THAT(IdsError("positions(file=\"" + file + "\")"),
              AllOf(HasSubstr("column 16"), HasSubstr("number 3")));
  EXPECT_THAT(IdsError("positions(file=no/such.txt)"), HasSubstr("no/such.txt"));
}

// A text with every parameter of the sampler, its defaults.
std::string FullText(const PositionSampler& sampler) {
  std::string text = "positions(sampler=" + sampler.name +
                     ", factor=" + (sampler.name == "full" ? "1" : "8") + ", seed=1";
  for (const Parameter& described : sampler.parameters)
    text += ", " + described.name + "=" + ParameterText(described.default_value);
  return text + ")";
}

TEST(PositionsText, PrintsEveryArgumentOfEverySampler) {
  for (const PositionSampler& sampler : PositionSamplers()) {
    const std::string text = "positions(sampler=" + sampler.name + ")";
    EXPECT_EQ(Printed(text), FullText(sampler));
    EXPECT_EQ(Printed(FullText(sampler)), FullText(sampler));
    EXPECT_EQ(ParseIntervention(FullText(sampler)), ParseIntervention(text));
    EXPECT_EQ(ParseIntervention(InterventionToJson(ParseIntervention(text))),
              ParseIntervention(text));
    EXPECT_TRUE(SameSetting(text, FullText(sampler)));
  }
}

TEST(PositionsText, SamplersDrawForThePromptsTokens) {
  for (const PositionSampler& sampler : PositionSamplers()) {
    const bool full = sampler.name == "full";
    const std::string text =
        "positions(sampler=" + sampler.name + (full ? ")" : ", factor=2.5, seed=7)");
    const PositionIds ids = PositionIdsOf(ParseIntervention(text), 201);
    const PositionRequest request{.tokens = 201, .context = full ? 201 : 502, .seed = 7};
    const auto drawn =
        PreparePositions(sampler, request, OptionSet(sampler.parameters))(0).position_id;
    for (int64_t row = 0; row < 201; ++row)
      ASSERT_EQ(ids.At(row), static_cast<double>(drawn[static_cast<size_t>(row)])) << text;
    EXPECT_EQ(ids.At(203), ids.At(200) + 3) << text;
    EXPECT_EQ(ids.given(), !full);
  }
  const auto ids_of = [](const std::string& text) {
    return PositionIdsOf(ParseIntervention(text), 100);
  };
  EXPECT_NE(ids_of("positions(sampler=pose, seed=1)"), ids_of("positions(sampler=pose, seed=2)"));
  EXPECT_NE(ids_of("positions(sampler=pose)"), ids_of("positions(sampler=pose, chunks=5)"));
}

TEST(PositionsText, RefusesWhatSaysNothing) {
  EXPECT_THAT(IdsError("positions"), HasSubstr("neither a file nor a sampler"));
  EXPECT_THAT(IdsError("positions(factor=3)"), HasSubstr("neither a file nor a sampler"));
  EXPECT_THAT(IdsError("positions(sampler=posse)"), HasSubstr("Did you mean 'pose'?"));
  EXPECT_THAT(IdsError("positions(sampler=randpos, chunks=2)"),
              AllOf(HasSubstr("column 28"), HasSubstr("sampler=randpos has no argument 'chunks'")));
  EXPECT_THAT(IdsError("positions(sampler=pose, chunks=0)"), HasSubstr("'chunks'"));
  EXPECT_THAT(IdsError("positions(sampler=full, factor=2)"), HasSubstr("every position"));
  EXPECT_THAT(IdsError("positions(sampler=randpos) + positions(sampler=pose)"),
              HasSubstr("given twice"));
  EXPECT_THAT(ErrorOf([] {
                PositionIdsOf(ParseIntervention("positions(sampler=randpos, factor=1e6)"), 100);
              }),
              HasSubstr("positions"));
}

}  // namespace
}  // namespace midscope
