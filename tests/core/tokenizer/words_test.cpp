// SPDX-License-Identifier: MIT
// The definition of a word character: \w of the Rust crate `regex` (pre-tokenizer Whitespace, added
// tokens that are single words) and that of Oniguruma (pre-tokenizer Split), which differ. Expected
// ids are those of `tokenizers` 0.23.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using test::TemporaryFolder;
using ::testing::ElementsAre;
using Json = nlohmann::json;

// Letters a (1) to d (4) and four symbols, each of which merges with an `a` before it.
Json Model(const Json& pre_tokenizer) {
  Json vocabulary = {{"<unk>", 0},  {"a", 1},      {"b", 2},      {"c", 3},     {"d", 4},
                     {"\u200c", 5}, {"\u24d0", 6}, {"\u00b2", 7}, {"\u2460", 8}};
  Json merges = Json::array();
  for (const char* symbol : {"\u200c", "\u24d0", "\u00b2", "\u2460"}) {
    vocabulary[std::string("a") + symbol] = 9 + merges.size();
    merges.push_back({"a", symbol});
  }
  Json added = {{"id", 13},        {"content", "cd"},     {"single_word", true}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", false}};
  return {{"version", "1.0"},
          {"added_tokens", {added}},
          {"pre_tokenizer", pre_tokenizer},
          {"model",
           {{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", vocabulary}, {"merges", merges}}}};
}

Tokenizer Open(const Json& model) {
  const TemporaryFolder folder;
  folder.Write("tokenizer.json", model.dump());
  return Tokenizer::FromFolder(folder.path());
}

TEST(Words, OfWhitespaceHoldJoinersAndCircledLetters) {
  const Tokenizer tokenizer = Open(Model({{"type", "Whitespace"}}));
  EXPECT_THAT(tokenizer.EncodeIds("a\u200cb"), ElementsAre(9, 2));
  EXPECT_THAT(tokenizer.EncodeIds("a\u24d0b"), ElementsAre(10, 2));
  EXPECT_THAT(tokenizer.EncodeIds("a\u00b2b"), ElementsAre(1, 7, 2));
  EXPECT_THAT(tokenizer.EncodeIds("a\u2460b"), ElementsAre(1, 8, 2));
}

TEST(Words, OfPatternsHoldTheNumbersOfLatin1) {
  const Tokenizer tokenizer = Open(Model({{"type", "Split"},
                                          {"pattern", {{"Regex", "\\w+"}}},
                                          {"behavior", "Isolated"},
                                          {"invert", false}}));
  EXPECT_THAT(tokenizer.EncodeIds("a\u200cb"), ElementsAre(1, 5, 2));
  EXPECT_THAT(tokenizer.EncodeIds("a\u24d0b"), ElementsAre(10, 2));
  EXPECT_THAT(tokenizer.EncodeIds("a\u00b2b"), ElementsAre(11, 2));
  EXPECT_THAT(tokenizer.EncodeIds("a\u2460b"), ElementsAre(1, 8, 2));
}

TEST(Words, DecideWhereAnAddedTokenStandsAlone) {
  const Tokenizer tokenizer = Open(Model(nullptr));
  EXPECT_THAT(tokenizer.EncodeIds("\u200ccd"), ElementsAre(5, 3, 4));
  EXPECT_THAT(tokenizer.EncodeIds("\u24d0cd"), ElementsAre(6, 3, 4));
  EXPECT_THAT(tokenizer.EncodeIds("\u00b2cd"), ElementsAre(7, 13));
  EXPECT_THAT(tokenizer.EncodeIds("\u2460cd"), ElementsAre(8, 13));
}

}  // namespace
}  // namespace midscope
