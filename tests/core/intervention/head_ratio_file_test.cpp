// SPDX-License-Identifier: MIT
// Files of head ratios: every accepted form, and the error messages for all others.

#include "core/intervention/head_ratio_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

HeadRatioTable Read(const std::string& text) { return ParseHeadRatios("table", text); }

std::string ErrorOf(const std::string& text) {
  try {
    Read(text);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

// A text of another array that looks like a row.
constexpr char kLikeARow[] =
    "array,layer,head,value\nnote,0,,\"a\nposition_ratio,0,0,9\"\nposition_ratio,0,0,1.5\n"
    "position_ratio,0,1,1.25\nposition_ratio,1,0,2\nposition_ratio,1,1,1\n";
constexpr const char* kExported =
    "array,layer,head,value\r\nother,0,,7\r\nposition_ratio,0,0,1.5\r\n"
    "position_ratio,0,1,1.25\r\nposition_ratio,1,0,2\r\nposition_ratio,1,1,1\r\n";

TEST(HeadRatioFile, TakesListsRowsAndExports) {
  for (const char* text : {
           "[[1.5,1.25],[2,1]]",
           " \n[ [1.5, 1.25],\r\n [2, 1.0] ]\n",
           "0,0,1.5\n0,1,1.25\n1,0,2\n1,1,1\n",
           "layer,head,ratio\r\n1, 1, 1\r\n\r\n0,1,1.25\r\n0,0,1.5\r\n1,0,2e0",
           "\xEF\xBB\xBFlayer,head,ratio\r\n0,0,1.5\r\n0,1,1.25\r\n1,0,2\r\n1,1,1\r\n",
           "\"layer\",\"head\",\"ratio\"\n\"0\",\"0\",\"1.5\"\n0,1,1.25\n1,0,\"2\"\n1,1,1\n",
           "\xEF\xBB\xBF[[1.5,1.25],[2,1]]",
           kExported,
           kLikeARow,
           R"({"provenance":{},"records":[{"name":"x","arrays":[]},{"name":"position_ratio_record",
              "arrays":[{"name":"other","data":[1]},
                        {"name":"position_ratio","data":[[1.5,1.25],[2,1]]}]}]})",
       }) {
    const HeadRatioTable table = Read(text);
    EXPECT_EQ(table.file, "table");
    EXPECT_EQ(table.heads, 2) << text;
    EXPECT_THAT(table.ratios, ElementsAre(1.5, 1.25, 2, 1)) << text;
  }
}

TEST(HeadRatioFile, NamesFileAndRow) {
  const auto says = [](const std::string& text, const char* what) {
    EXPECT_THAT(ErrorOf(text), AllOf(HasSubstr("table: "), HasSubstr(what))) << text;
  };
  says("layer;head;ratio\n0;0;1,5\n", "not by semicolons, and write 1.5, not 1,5");
  says("0\t0\t1.5\n", "not by tabs");
  says("0,0,1,5\n", "decimal point");
  says("0,0,\"1,5\"\n", "decimal point");
  says("", "no ratios");
  // JSON that is not a list, for which the library throws its own exception.
  for (const char* text : {"12", "\"a\"", "true", "null",
                           R"({"records":[{"arrays":[{"name":"position_ratio","data":"a"}]}]})"})
    says(text, "");
  says("[]", "no ratios");
  says("[[]]", "no ratios");
  says("[[1,2],[1]]", "layer 1, head 1 has no ratio");
  says("[[1],[2,3]]", "layer 0, head 1 has no ratio");
  says("[[1,\"2\"]]", "layer 0, head 1 is not a number");
  says("[[1,null]]", "layer 0, head 1 is not a number");
  says("[1,2]", "layer 0 is not a list");
  says("[[1,2]", "not JSON");
  says("[[1e999]]", "JSON");
  says("[[0]]", "layer 0, head 0: a ratio must be from 0.01 to 1000, not 0");
  says("{\"records\":[]}", "position_ratio");
  says("{\"records\":7}", "position_ratio");
  says("{\"records\":[7,{\"arrays\":[7]}]}", "position_ratio");
  // Values for which the JSON library would throw its own exception.
  for (const char* data : {"7", "\"text\"", "true", "{\"a\":1}"}) {
    says(std::string(R"({"records":[{"arrays":[{"name":"position_ratio","data":)") + data + "}]}]}",
         "not a list of layers");
  }
  says("0,0,1\n0,1\n", "line 2 is not layer,head,ratio");
  says("0,0,1\n0,x,1\n", "line 2");
  says("0,0,1\n0,0,1\n", "line 2: layer 0, head 0 occurs twice");
  says(" 0,0,\"1\" \n",
       "table: line 1 is not layer,head,ratio: '0,0,\"1\"'. Write for example 12,3,1.5");
  says("0,0,1\n0,\"1\n0,2,1\n", "line 2 is not layer,head,ratio: '0,\"1'");
  says("0,0,nan\n", "line 1");
  says("0,0,-1\n", "line 1: a ratio must be");
  says("0,99999999,1\n", "line 1: layer 0, head 99999999 is out of range");
  says("-1,0,1\n", "line 1: layer -1");
  says("1,0,1\n", "layer 0, head 0 has no ratio");
  says(std::string(100000, '['), "JSON");
}

TEST(HeadRatioFile, NoBytesDoMoreThanThrowAnError) {
  std::mt19937_64 random(11);
  const std::string alphabet = "[]{},\"01.5e-\n \tlayerhd:\xff";
  const std::string good = "layer,head,ratio\n0,0,1.5\n0,1,1.25\n";
  for (int i = 0; i < 20000; ++i) {
    std::string text = random() % 2 == 0 ? good : "[[1.5,1.25],[2,1]]";
    for (uint64_t j = 0; j <= random() % 4; ++j)
      text[random() % text.size()] = alphabet[random() % alphabet.size()];
    try {
      const HeadRatioTable table = Read(text);
      ASSERT_EQ(table.ratios.size() % static_cast<size_t>(table.heads), 0u);
    } catch (const Error&) {
    }
  }
}

TEST(HeadRatioFile, DigestIsOfTheNumbers) {
  const std::string digest = RatioDigest(Read("[[1.5,1.25],[2,1]]"));
  EXPECT_EQ(digest.size(), 16u);
  EXPECT_EQ(RatioDigest(Read("0,0,1.5\n0,1,1.25\n1,0,2\n1,1,1\n")), digest);
  EXPECT_NE(RatioDigest(Read("[[1.5,1.25],[2,1.0001]]")), digest);
  EXPECT_NE(RatioDigest(Read("[[1.5,1.25,2,1]]")), digest);
}

}  // namespace
}  // namespace midscope
