// SPDX-License-Identifier: MIT
// Ids equal those of Hugging Face `tokenizers` with the same vocabulary and merges
// (tokenizer_golden.jsonl, written by make_tokenizer_golden.py; compare_tokenizer.py compares any
// number of lines).
#include "core/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "core/base/utf8.h"
#include "core/formats/gguf_file.h"
#include "core/model/model_source.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::TemporaryFile;
using test::TinyModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Tokenizer& Embedded() {
  static const Tokenizer tokenizer{GgufFile(ModelPath("embedded"))};
  return tokenizer;
}

Tokenizer FromWriter(const GgufWriter& writer) {
  const TemporaryFile file(writer.Bytes());
  return Tokenizer{GgufFile(file.path())};
}

TEST(Tokenizer, GivesTheKnownIds) {
  EXPECT_THAT(Embedded().EncodeIds("The capital of France is"),
              ElementsAre(504, 3575, 282, 4649, 314));
  EXPECT_THAT(Embedded().EncodeIds("Hello world, 123 <|im_start|>user"),
              ElementsAre(19556, 905, 28, 216, 33, 34, 35, 216, 1, 4093));
  EXPECT_THAT(Embedded().EncodeIds(" \u00bd"), ElementsAre(216, 16738));
  EXPECT_THAT(Embedded().EncodeIds(""), IsEmpty());
}

TEST(Tokenizer, GivesTheIdsOfTheGoldenFile) {
  std::ifstream file(MIDSCOPE_TESTS
                     "/core/golden"
                     "/tokenizer_golden.jsonl");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto golden = nlohmann::json::parse(line);
    EXPECT_EQ(Embedded().EncodeIds(golden["text"].get<std::string>()),
              golden["ids"].get<std::vector<int32_t>>())
        << golden["text"];
  }
  EXPECT_EQ(lines, 300);
}

TEST(Tokenizer, KnowsItsVocabulary) {
  const Tokenizer& tokenizer = Embedded();
  EXPECT_EQ(tokenizer.vocabulary(), 49152);
  EXPECT_EQ(tokenizer.bos_id(), 1);
  EXPECT_EQ(tokenizer.eos_id(), 2);
  EXPECT_EQ(tokenizer.unknown_id(), 0);
  EXPECT_FALSE(tokenizer.add_bos());
  EXPECT_EQ(tokenizer.pre_tokenizer_name(), "smollm");
  EXPECT_TRUE(tokenizer.IsControl(2));
  EXPECT_FALSE(tokenizer.IsControl(504));
  EXPECT_EQ(tokenizer.TokenText(3575), " capital");
  EXPECT_EQ(tokenizer.SingleToken(" capital"), 3575);
  EXPECT_EQ(tokenizer.SingleToken("<|im_end|>"), 2);
  EXPECT_EQ(tokenizer.SingleToken("The capital"), std::nullopt);
  EXPECT_EQ(tokenizer.SingleToken(""), std::nullopt);
  // Ids that a model may have beyond its tokenizer's.
  EXPECT_EQ(tokenizer.TokenText(49152), "");
  EXPECT_EQ(tokenizer.TokenText(-1), "");
  EXPECT_FALSE(tokenizer.IsControl(49152));
}

TEST(Tokenizer, TakesControlTokensAsTextWhereAsked) {
  EXPECT_THAT(Embedded().EncodeIds("<|im_end|>"), ElementsAre(2));
  const auto plain = Embedded().EncodeIds("<|im_end|>", false);
  EXPECT_GT(plain.size(), 1u);
  EXPECT_EQ(Embedded().Decode(plain), "<|im_end|>");
}

TEST(Tokenizer, TakesTheLeftmostThenLongestSpecialToken) {
  GgufWriter writer = TinyModel();
  std::vector<std::string> tokens;
  tokens.reserve(262);
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(test::ByteCharacter(byte));
  tokens.insert(tokens.end(), {"ab", "abc", "<|end|>", "<x>", "<x><y>", "x><"});
  std::vector<int32_t> types(tokens.size(), 1);
  std::fill(types.end() - 4, types.end(), 3);
  types[260] = 4;  // user-defined: recognised even where control tokens are text
  writer.Remove("tokenizer.ggml.tokens").Strings("tokenizer.ggml.tokens", tokens);
  writer.Remove("tokenizer.ggml.token_type").Int32s("tokenizer.ggml.token_type", types);
  const Tokenizer tokenizer = FromWriter(writer);
  EXPECT_THAT(tokenizer.EncodeIds("<x><y>"), ElementsAre(260));
  EXPECT_THAT(tokenizer.EncodeIds("<x><<x>"), ElementsAre(259, '<', 259));
  EXPECT_THAT(tokenizer.EncodeIds("x><y>"), ElementsAre(261, 'y', '>'));
  EXPECT_THAT(tokenizer.EncodeIds("<x><y>", false), ElementsAre(260));
  EXPECT_THAT(tokenizer.EncodeIds("<x>abcab", false), ElementsAre('<', 'x', '>', 257, 256));
}

// Llama 3 takes a piece that is a token as it is, though no merge leads there; GPT-2 does not.
TEST(Tokenizer, TakesWholePiecesWhereTheSchemeSaysSo) {
  GgufWriter writer = TinyModel();
  std::vector<std::string> tokens;
  tokens.reserve(260);
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(test::ByteCharacter(byte));
  tokens.insert(tokens.end(), {"ab", "abc", "<|end|>", "xyz"});
  std::vector<int32_t> types(tokens.size(), 1);
  types[258] = 3;
  writer.Remove("tokenizer.ggml.tokens").Strings("tokenizer.ggml.tokens", tokens);
  writer.Remove("tokenizer.ggml.token_type").Int32s("tokenizer.ggml.token_type", types);
  EXPECT_THAT(FromWriter(writer).EncodeIds("xyz"), ElementsAre('x', 'y', 'z'));
  writer.Remove("tokenizer.ggml.pre").String("tokenizer.ggml.pre", "llama-bpe");
  EXPECT_THAT(FromWriter(writer).EncodeIds("xyz"), ElementsAre(259));
  EXPECT_THAT(FromWriter(writer).EncodeIds("abcab"), ElementsAre(257, 256));
}

TEST(Tokenizer, SaysWhichBytesOfTheTextATokenIs) {
  const std::string text = "na\u00efve <|im_end|>\U0001F600 12";
  const auto tokens = Embedded().Encode(text);
  int64_t end = 0;
  for (const Token& token : tokens) {
    EXPECT_EQ(token.byte_begin, end);
    end = token.byte_end;
    EXPECT_EQ(text.substr(static_cast<size_t>(token.byte_begin),
                          static_cast<size_t>(token.byte_end - token.byte_begin)),
              Embedded().TokenText(token.id));
  }
  EXPECT_EQ(end, static_cast<int64_t>(text.size()));
}

// Any assigned or unassigned character; those whose bytes the vocabulary lacks are left out.
std::string RandomCharacter(std::mt19937_64* random) {
  constexpr std::array<uint32_t, 5> kLimits = {0x80, 0x800, 0x3000, 0x10000, 0x40000};
  while (true) {
    const auto code = static_cast<uint32_t>((*random)() % kLimits.at((*random)() % kLimits.size()));
    const bool missing = code == 0x04 || code == 0x06 || code == 0x13 || code == 0x14 ||
                         code == 0x16 || code == 0x1d;
    if (missing || (code >= 0xd800 && code < 0xe000)) continue;
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
  }
}

TEST(Tokenizer, DecodesToTheSameBytes) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (uint64_t length = random() % 60; length > 0; --length) text += RandomCharacter(&random);
    const auto tokens = Embedded().Encode(text);
    EXPECT_EQ(Embedded().BytesWithoutToken(text, tokens), 0) << DisplayText(text);
    EXPECT_EQ(Embedded().Decode(Embedded().EncodeIds(text)), text) << DisplayText(text);
  }
}

TEST(Tokenizer, CountsBytesThatHaveNoToken) {
  const std::string text =
      "a\x04"
      "b\U00050000";
  const auto tokens = Embedded().Encode(text);
  EXPECT_THAT(Embedded().EncodeIds(text), ElementsAre(81, 82, 234, 218, 218));  // as `tokenizers`
  EXPECT_EQ(Embedded().BytesWithoutToken(text, tokens), 2);
  EXPECT_EQ(tokens[1].byte_begin, 2);
}

TEST(Tokenizer, SaysWhereTextIsNotUtf8) {
  const auto error = [](const std::string& text) {
    return ErrorMessage([&] { Embedded().Encode(text); });
  };
  EXPECT_THAT(error("abc\xff"), HasSubstr("not UTF-8 at byte 3 (0xFF)"));
  EXPECT_THAT(error("\u00e9\xc3"), HasSubstr("at byte 2"));
  EXPECT_THAT(error("\xed\xa0\x80"), HasSubstr("at byte 0"));      // a surrogate
  EXPECT_THAT(error("a\xc0\xaf"), HasSubstr("at byte 1"));         // overlong
  EXPECT_THAT(error("\xf4\x90\x80\x80"), HasSubstr("at byte 0"));  // over U+10FFFF
}

// Pieces this long would take minutes if merging or splitting were quadratic; the limit is wide for
// slow machines.
TEST(Tokenizer, TakesLongRunsInTheirStride) {
  const auto begin = std::chrono::steady_clock::now();
  for (const char* unit : {"a", " ", "\n", "\t ", "1", "!", "<", "<|", "\u00e9", "\u0301"}) {
    std::string text;
    while (text.size() < 400'000) text += unit;
    EXPECT_EQ(Embedded().Decode(Embedded().EncodeIds(text)), text);
    text += "x";
    EXPECT_EQ(Embedded().Decode(Embedded().EncodeIds(text)), text);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Tokenizer, RefusesWhatItCannotReproduce) {
  const auto error = [](const std::string& key, const std::string& value) {
    GgufWriter writer = TinyModel();
    writer.Remove(key).String(key, value);
    return ErrorMessage([&] { FromWriter(writer); });
  };
  EXPECT_THAT(error("tokenizer.ggml.pre", "porcelain"),
              HasSubstr("pre-tokenizer 'porcelain': not supported yet"));
  EXPECT_THAT(error("tokenizer.ggml.model", "rwkv"),
              HasSubstr("its tokenizer 'rwkv' is not supported"));
  EXPECT_THAT(error("tokenizer.ggml.model", "llama"),
              HasSubstr("tokenizer.ggml.scores is missing"));
  GgufWriter none = TinyModel();
  none.Remove("tokenizer.ggml.model");
  EXPECT_THAT(ErrorMessage([&] { FromWriter(none); }), HasSubstr("it has no tokenizer"));
  GgufWriter space = TinyModel();
  space.Bool("tokenizer.ggml.add_space_prefix", true);
  EXPECT_THAT(ErrorMessage([&] { FromWriter(space); }),
              HasSubstr("puts a space before every text"));
}

TEST(Utf8, ShowsAnyBytesOnOneLine) {
  EXPECT_EQ(DisplayText(" a\n\t\r\\\u00e9"), " a\\n\\t\\r\\\\\u00e9");
  EXPECT_EQ(DisplayText("\xe2\x80"), "\\xE2\\x80");
  EXPECT_EQ(DisplayText("\u200d\x1b"), "\\u{200D}\\u{001B}");
  EXPECT_EQ(Quote("abcdef", 3), "'abc...'");
}

}  // namespace
}  // namespace midscope
