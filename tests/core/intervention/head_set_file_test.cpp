// SPDX-License-Identifier: MIT
// Contract: lists of heads are read in their published form; any other file gives an error that
// names the file, never a crash or a wrong list.
#include "core/intervention/head_set_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "core/base/error.h"
#include "core/terms/intervention_json.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::HasSubstr;

class HeadSetFile : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // As texts, in order.
  std::vector<std::string> Read(const std::string& text, const std::string& choice = "") {
    std::vector<std::string> names;
    for (const HeadName& head : ReadHeadSetFile(Write("heads", text) + choice))
      names.push_back(head.Text());
    return names;
  }
  std::string Refused(const std::string& text, const std::string& choice = "") {
    return ErrorMessage([&] { Read(text, choice); });
  }

 private:
  test::TemporaryFolder folder_;
};

using Names = std::vector<std::string>;

TEST_F(HeadSetFile, RetrievalHeadsHaveScoresWhoseMeanCounts) {
  const std::string scores = R"({"16-19": [0.9, 0.7], "24-3": [1, 0.2], "2-0": [], "2-30": [0.8]})";
  EXPECT_EQ(Read(scores, ":top:1"), Names({"L2H30"}));  // 0.8 twice: the lower layer
  EXPECT_EQ(Read(scores, ":top:2"), Names({"L2H30", "L16H19"}));
  EXPECT_EQ(Read(scores, ":least:0.6"), Names({"L2H30", "L16H19", "L24H3"}));
  EXPECT_EQ(Read(scores, ":below:0.7"), Names({"L2H0", "L24H3"}));
  EXPECT_THAT(Refused(scores), HasSubstr(":top:20"));
  EXPECT_THAT(Refused(scores, ":least:2"), HasSubstr("no head"));
}

TEST_F(HeadSetFile, PastaNamesHeadsByLayer) {
  const std::string heads = R"({"18": [13], "19": [4, 0], "4": [10]})";
  EXPECT_EQ(Read(heads), Names({"L4H10", "L18H13", "L19H0", "L19H4"}));
  EXPECT_EQ(Read(heads, ":top:2"), Names({"L18H13", "L19H4"}));
  EXPECT_THAT(Refused(heads, ":least:0.5"), HasSubstr("no scores"));
}

TEST_F(HeadSetFile, QrHeadsAreAYamlLine) {
  EXPECT_EQ(Read("# Default configuration\n\nattn_head_set: \"14-22,13-16, 14-1\" # top16\n"
                 "model_base_class: \"Llama-3.1-8B-Instruct\"\n"),
            Names({"L13H16", "L14H1", "L14H22"}));
  EXPECT_EQ(Read("attn_head_set: 14-22,13-16 # top\n", ":top:1"), Names({"L14H22"}));
  EXPECT_THAT(Refused("attn_head_set: \"14:22\"\n"), HasSubstr("is not a head"));
}

TEST_F(HeadSetFile, DuoAttentionHasAValueForEveryKeyHead) {
  const std::string table = "0.1\t0.9\r\n1.0 \t 0.4\n\n";
  EXPECT_EQ(Read(table, ":least:0.5"), Names({"L0G1", "L1G0"}));
  EXPECT_EQ(Read(table, ":below:0.5"), Names({"L0G0", "L1G1"}));
  EXPECT_THAT(Refused("0.1\tx\n", ":top:1"), HasSubstr("line 1"));
  EXPECT_THAT(Refused("0.1\tnan\n", ":top:1"), HasSubstr("heads"));
}

TEST_F(HeadSetFile, OtherFilesAreRefused) {
  EXPECT_THAT(Refused("{"), HasSubstr("not JSON"));
  EXPECT_THAT(Refused("{\"a\": " + std::string(100000, '[')), HasSubstr("too deeply"));
  EXPECT_THAT(Refused(R"({"16-19": 3})"), HasSubstr("neither"));
  EXPECT_THAT(Refused(R"({"16-19": [1], "3": [1]})", ":top:1"), HasSubstr("neither"));
  EXPECT_THAT(Refused(R"({"16": [1.5]})"), HasSubstr("integer"));
  EXPECT_THAT(Refused(R"({"16": [18446744073709551615]})"), HasSubstr("out of the range"));
  EXPECT_THAT(Refused(R"({"-1": [0]})"), HasSubstr("out of the range"));
  EXPECT_THAT(Refused(R"({"99999999-0": [0]})", ":top:1"), HasSubstr("out of the range"));
  EXPECT_THAT(Refused(R"({"1-0": ["a"]})", ":top:1"), HasSubstr("not a number"));
  EXPECT_THAT(Refused("{}"), HasSubstr("no head"));
  EXPECT_THAT(Refused("\xff\xfe\n"), HasSubstr("UTF-8"));
  EXPECT_THAT(Refused("hello\n"), HasSubstr("none of the known formats"));
  EXPECT_THAT(Refused("0.5\n", ":top:0"), HasSubstr("at least 1"));
  EXPECT_THAT(Refused("0.5\n", ":top:x"), HasSubstr("not a number"));
  EXPECT_THROW(ReadHeadSetFile("no/such/file"), Error);
  EXPECT_THROW(ReadHeadSetFile(""), Error);
}

// Any bytes give heads or an Error.
TEST_F(HeadSetFile, DamagedFilesAreErrors) {
  const std::vector<std::string> whole = {
      R"({"16-19": [0.9, 0.7], "24-3": [1]})", R"({"18": [13], "19": [4, 0]})",
      "attn_head_set: \"14-22,13-16\" # top\n", "0.1\t0.9\n1\t0\n"};
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole[random() % whole.size()];
    for (uint64_t change = 0; change <= random() % 3; ++change)
      text[random() % text.size()] = static_cast<char>(random());
    text.resize(text.size() - random() % text.size());
    try {
      EXPECT_FALSE(Read(text, random() % 2 == 0 ? ":top:3" : "").empty());
    } catch (const Error&) {
    }
  }
}

TEST_F(HeadSetFile, TermsNameTheHeadsOfAFileOneByOne) {
  const std::string file = Write("heads.json", R"({"3": [1, 0], "2": [5]})");
  const Intervention read = ParseIntervention("ablate([\"file:" + file + "\",L3H1,L9G0])");
  const std::string text = PrintIntervention(read);
  EXPECT_THAT(text, HasSubstr("[L2H5,L3H0,L3H1,L9G0]"));
  EXPECT_EQ(ParseIntervention(text), read);
  EXPECT_EQ(ParseIntervention(InterventionToJson(read)), read);
  EXPECT_THAT(ErrorMessage([] { ParseIntervention("ablate(file:none.json)"); }),
              HasSubstr("column 8"));
}

TEST(HeadNames, AreReadAndPrinted) {
  for (const char* heads : {"L9H*", "L9H0-3", "L9G1-2", "all", "[L1H0,L9G*]"}) {
    const std::string text = "temperature(" + std::string(heads) + ", 1.5, rows=all)";
    EXPECT_EQ(PrintIntervention(ParseIntervention(text)), text);
    EXPECT_EQ(ParseIntervention(InterventionToJson(ParseIntervention(text))),
              ParseIntervention(text));
  }
  for (const char* heads : {"L9H3-1", "L9H-1", "L*H3", "L9", "L9H0-", "L9H*3", "*", "L9H0-9999999"})
    EXPECT_THROW(ParseIntervention("ablate(" + std::string(heads) + ")"), Error) << heads;
  // Settings from before boost had heads.
  EXPECT_TRUE(SameSetting("boost(span=gold, factor=2)", "boost(span=gold, factor=2, heads=all)"));
  EXPECT_FALSE(SameSetting("boost(span=gold)", "boost(span=gold, heads=L1H0)"));
  EXPECT_EQ(PrintIntervention(ParseIntervention("block(from=last:3, to=\"pair 7\")")),
            "block(from=last:3, to=\"pair 7\", layers=all)");
  EXPECT_EQ(PrintIntervention(ParseIntervention("block(from=\"last\", to=gold)")),
            "block(from=\"last\", to=gold, layers=all)");
}

}  // namespace
}  // namespace midscope
