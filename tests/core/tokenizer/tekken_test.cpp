// SPDX-License-Identifier: MIT
// A folder whose only tokenizer is a tekken.json. Expected ids are those of AutoTokenizer of
// transformers 5.24 (by mistral-common).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/chat/chat_template.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = i; j < i + 3; ++j)
      bits = bits << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      text += i + j > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * j) & 63];
  }
  return text;
}

// 24 special tokens, the bytes, and `others`.
nlohmann::json Tekken(const std::string& version) {
  nlohmann::json vocabulary = nlohmann::json::array();
  const auto add = [&](const std::string& bytes) {
    vocabulary.push_back(
        {{"rank", vocabulary.size()}, {"token_bytes", Base64(bytes)}, {"token_str", nullptr}});
  };
  for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
  for (const char* text : {"he", " t", " the", "ba", "ab", "bab", "aba", "abab", "xyz", "\u00e9",
                           "aa", "aaa", "aaaa", "baa", "xyzq"})
    add(text);
  const char* pattern =
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  return {{"config",
           {{"pattern", pattern},
            {"default_vocab_size", vocabulary.size() + 24},
            {"default_num_special_tokens", 24},
            {"version", version}}},
          {"vocab", vocabulary}};
}

Tokenizer Load(const nlohmann::json& tekken) {
  const test::TemporaryFolder folder;
  folder.Write("tekken.json", tekken.dump());
  return Tokenizer::FromFolder(folder.path());
}

TEST(Tekken, GivesTheIdsOfTransformers) {
  const Tokenizer tokenizer = Load(Tekken("v3"));
  EXPECT_THAT(tokenizer.EncodeIds("the the babab ababab xyz xyzq 12 \u00e9 aaaaaaa aaab"),
              ElementsAre(140, 280, 282, 56, 283, 285, 56, 286, 285, 56, 144, 145, 146, 56, 144,
                          145, 146, 137, 56, 73, 74, 56, 289, 56, 292, 291, 56, 290, 284));
  EXPECT_THAT(tokenizer.EncodeIds("abaabaa\n\n  b"),
              ElementsAre(286, 286, 121, 34, 34, 56, 56, 122));
  EXPECT_THAT(tokenizer.begin_ids(), ElementsAre(1));
  EXPECT_TRUE(tokenizer.add_bos());
  EXPECT_THAT(tokenizer.end_ids(), ElementsAre(2));
  EXPECT_EQ(tokenizer.TokenText(23), "<SPECIAL_23>");
  EXPECT_THAT(tokenizer.EncodeIds("[INST]<SPECIAL_23>"), ElementsAre(3, 23));
  EXPECT_EQ(tokenizer.Decode(tokenizer.EncodeIds(" the \u00e9\xf0\x9f\x98\x80")),
            " the \u00e9\xf0\x9f\x98\x80");
}

TEST(Tekken, ChatsOfItsVersion) {
  const std::vector<ChatMessage> messages = {
      {"system", "ab"}, {"user", "xyz 1"}, {"assistant", "ba"}, {"user", "\u00e9"}};
  const auto ids = [&](const Tokenizer& tokenizer) {
    return tokenizer.EncodeIds(RenderChat(tokenizer, messages, true));
  };
  EXPECT_THAT(ids(Load(Tekken("v3"))),
              ElementsAre(1, 3, 288, 56, 73, 4, 283, 2, 3, 284, 34, 34, 289, 4));
  for (const char* version : {"v7", "v11", "v13"}) {
    EXPECT_THAT(ids(Load(Tekken(version))),
                ElementsAre(1, 17, 284, 18, 3, 288, 56, 73, 4, 283, 2, 3, 289, 4));
  }
  EXPECT_THAT(Load(Tekken("v15")).chat_template(), IsEmpty());
}

TEST(Tekken, ReadsAsManyTokensAsItStates) {
  nlohmann::json tekken = Tekken("v3");
  tekken["config"]["default_vocab_size"] = 24 + 256 + 12;
  EXPECT_EQ(Load(tekken).vocabulary(), 292);
  EXPECT_THAT(Load(tekken).EncodeIds(" aaaa"), ElementsAre(56, 290, 290));
}

TEST(Tekken, RefusesContradictions) {
  const auto error = [](const auto& change) {
    nlohmann::json tekken = Tekken("v3");
    change(tekken);
    return test::ErrorMessage([&] { Load(tekken); });
  };
  EXPECT_THAT(error([](auto& t) { t["vocab"][270]["rank"] = 3; }), HasSubstr("its token 270"));
  EXPECT_THAT(error([](auto& t) { t["vocab"][65]["token_bytes"] = "Qg=="; }),
              HasSubstr("its token 65 does not have its rank and its bytes"));
  EXPECT_THAT(error([](auto& t) { t["vocab"][260]["token_bytes"] = "aGU="; }),
              HasSubstr("the bytes of another"));
  EXPECT_THAT(error([](auto& t) { t["vocab"][260]["token_bytes"] = "?"; }),
              HasSubstr("is not base64"));
  EXPECT_THAT(error([](auto& t) { t["config"]["default_vocab_size"] = 400; }),
              HasSubstr("states 400 tokens"));
  EXPECT_THAT(error([](auto& t) { t["config"]["default_num_special_tokens"] = 2'000'000'000; }),
              HasSubstr("special tokens for a list of 20"));
  EXPECT_THAT(error([](auto& t) { t["config"].erase("pattern"); }), HasSubstr("'pattern'"));
}

}  // namespace
}  // namespace midscope
