// SPDX-License-Identifier: MIT
// The pre-tokenizers that GGUF files name: they split text as the families' own tokenizer.json
// does. The expected pieces are derived by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/pre_tokenizer.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Pieces(const std::string& scheme, const std::string& text) {
  std::vector<std::string> pieces;
  const AlignedText aligned(text, 0);
  MakeNamedScheme(scheme).pre_tokenizer.Split(
      aligned, 0, text.size(), [&](const AlignedText& changed, size_t begin, size_t end) {
        pieces.emplace_back(changed.text().substr(begin, end - begin));
      });
  return pieces;
}

TEST(PreTokenizerSchemes, CutNumbersAndLineEndsAsTheirFamiliesDo) {
  const std::string text = "it's 1234!!\n\nx";
  for (const char* name : {"refact", "command-r", "starcoder"}) {
    EXPECT_THAT(Pieces(name, text),
                ElementsAre("it", "'s", " ", "1", "2", "3", "4", "!!", "\n", "\n", "x"))
        << name;
  }
  EXPECT_THAT(Pieces("exaone4", text), ElementsAre("it", "'s", " 1234", "!!", "\n", "\n", "x"));
  for (const char* name : {"glm4", "chatglm-bpe"}) {
    EXPECT_THAT(Pieces(name, text), ElementsAre("it", "'s", " ", "123", "4", "!!\n\n", "x"))
        << name;
  }
  EXPECT_THAT(Pieces("stablelm2", text),
              ElementsAre("it", "'s", " ", "1", "2", "3", "4", "!!\n\n", "x"));
  EXPECT_THAT(Pieces("seed-coder", text),
              ElementsAre("it", "'s", " ", "1", "2", "3", "4", "!!", "\n\n", "x"));
}

TEST(PreTokenizerSchemes, CutMarksAndNumbersOfSeveralPatterns) {
  const std::string text = "Ab, 12345$x (y)\n";
  EXPECT_THAT(Pieces("falcon", text),
              ElementsAre("Ab", ",", " ", "123", "45", "$", "x", " ", "(", "y", ")", "\n"));
  EXPECT_THAT(Pieces("bloom", "Ab, it's (12345)"),
              ElementsAre("Ab", ",", " it's", " (", "12345", ")"));
  for (const char* name : {"deepseek-v3", "hunyuan-dense"}) {
    EXPECT_THAT(Pieces(name, "Ab 12345中文x it's\n"),
                ElementsAre("Ab", " ", "123", "45", "中文", "x", " it", "'s", "\n"))
        << name;
  }
}

TEST(PreTokenizerSchemes, CommandRIsInNormalFormC) {
  EXPECT_TRUE(MakeNamedScheme("command-r").composes);
  EXPECT_FALSE(MakeNamedScheme("refact").composes);
}

}  // namespace
}  // namespace midscope
