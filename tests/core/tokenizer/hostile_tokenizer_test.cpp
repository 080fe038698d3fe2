// SPDX-License-Identifier: MIT
// Damaged tokenizer files. Contract: each gives an ordinary Error, or loads if the damage is
// harmless; nothing crashes, hangs or allocates memory according to an unchecked number in the
// file. Run it under the address sanitizer for full coverage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "core/chat/chat_template.h"
#include "core/formats/gguf_file.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::TemporaryFolder;
using ::testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// 1 to 4 changes: a byte, a bit, a digit, a cut, a part that is left out or said twice.
std::string Mutate(std::string bytes, std::mt19937_64* random) {
  for (uint64_t count = 1 + (*random)() % 4; count > 0 && !bytes.empty(); --count) {
    const size_t at = (*random)() % bytes.size();
    switch ((*random)() % 6) {
      case 0:
        bytes[at] = static_cast<char>((*random)());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (*random)() % 8));
        break;
      case 2:
        bytes[at] = static_cast<char>('0' + (*random)() % 10);
        break;
      case 3:
        if ((*random)() % 8 == 0) bytes.resize(at);
        break;
      case 4:
        bytes.erase(at, (*random)() % 20);
        break;
      default:
        bytes.insert(at, bytes.substr((*random)() % bytes.size(), (*random)() % 20));
    }
  }
  return bytes;
}

// How many of `count` mutations of `file` in kinds/ are refused.
int Refused(const std::string& kind, const std::string& file, int count, uint64_t seed) {
  const std::string original = ReadAll(MIDSCOPE_TESTS
                                       "/core/golden"
                                       "/tokenizers/" +
                                       kind + "/" + file);
  EXPECT_FALSE(original.empty()) << kind;
  const TemporaryFolder folder;
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    folder.Write(file, Mutate(original, &random));
    // Anything but an Error (a crash, std::bad_alloc, std::logic_error) fails the test.
    const std::string error = ErrorMessage([&] {
      const Tokenizer tokenizer = Tokenizer::FromFolder(folder.path());
      tokenizer.Decode(
          tokenizer.EncodeIds(" Hello w\u00f6rld 123 <s> \u2581\U0001F600 ab\n\ufb01"));
    });
    if (!error.empty()) ++refused;
  }
  return refused;
}

TEST(HostileTokenizer, TwoThousandMutatedTokenizerJson) {
  int refused = 0;
  uint64_t seed = 1;
  for (const char* kind :
       {"qwen2", "flags", "llama2", "llama2_first", "gemma", "unigram", "unigram_bytes", "mixed"})
    refused += Refused(kind, "tokenizer.json", 250, seed++);
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 2000);
}

TEST(HostileTokenizer, MutatedTokenizerModels) {
  int refused = 0;
  for (const char* kind : {"llama2_model", "unigram_model"})
    refused += Refused(kind, "tokenizer.model", 500, 9);
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 1000);
}

// The component at the beginning of a file is what most mutations of all of it miss.
TEST(HostileTokenizer, MutatedComponents) {
  const std::string original = ReadAll(MIDSCOPE_TESTS
                                       "/core/golden"
                                       "/tokenizers/unigram/tokenizer.json");
  const size_t end = original.find("\"vocab\"");
  const TemporaryFolder folder;
  std::mt19937_64 random(3);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    folder.Write("tokenizer.json", Mutate(original.substr(0, end), &random) + original.substr(end));
    refused += ErrorMessage([&] {
                 const Tokenizer tokenizer = Tokenizer::FromFolder(folder.path());
                 tokenizer.EncodeIds("\ufb01 \u2460\U0001D4B3 e\u0301 the  of");
               }).empty()
                   ? 0
                   : 1;
  }
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 500);
}

TEST(HostileTokenizer, NestsWithoutEnd) {
  const TemporaryFolder folder;
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += R"({"type":"Sequence","normalizers":[)";
  folder.Write("tokenizer.json", "{\"normalizer\": " + nested);
  EXPECT_THAT(ErrorMessage([&] { Tokenizer::FromFolder(folder.path()); }), HasSubstr("not JSON"));
  for (int i = 0; i < 100'000; ++i) nested += "]}";
  folder.Write("tokenizer.json", "{\"model\": {\"vocab\": {}}, \"normalizer\": " + nested + "}");
  EXPECT_THAT(ErrorMessage([&] { Tokenizer::FromFolder(folder.path()); }),
              HasSubstr("nested too deeply"));
}

// Normalizers that took many seconds and gigabytes, and ended in an error with another reason.
TEST(HostileTokenizer, NormalizersThatGrowTheText) {
  const std::string original = ReadAll(MIDSCOPE_TESTS
                                       "/core/golden"
                                       "/tokenizers/unigram/tokenizer.json");
  const auto error = [&](const std::string& steps, const std::string& text) {
    auto json = nlohmann::json::parse(original);
    json["normalizer"] =
        nlohmann::json::parse(R"({"type": "Sequence", "normalizers": [)" + steps + "]}");
    const TemporaryFolder folder;
    folder.Write("tokenizer.json", json.dump());
    std::string message =
        ErrorMessage([&] { Tokenizer::FromFolder(folder.path()).EncodeIds(text); });
    EXPECT_TRUE(message.empty() ||
                message.find((folder.path() / "tokenizer.json").string()) != std::string::npos)
        << message;
    return message;
  };
  const auto replace = [](const std::string& from, const std::string& to, int count) {
    std::string steps;
    for (int i = 0; i < count; ++i) {
      if (i > 0) steps += ',';
      steps.append(R"({"type":"Replace","pattern":{"String":")").append(from);
      steps.append(R"("},"content":")").append(to).append("\"}");
    }
    return steps;
  };
  const std::string longer = "more than 32 times as long, which is the limit";
  EXPECT_THAT(error(replace("a", "aa", 40), std::string(1000, 'a')), HasSubstr(longer));
  EXPECT_THAT(error(replace("a", std::string(100'000, 'a'), 1), std::string(100'000, 'a')),
              HasSubstr(longer));
  EXPECT_THAT(error(R"({"type":"Prepend","prepend":")" + std::string(1'000'000, 'x') + "\"}", "a"),
              HasSubstr(longer));
  EXPECT_THAT(error(replace("b", "b", 5000), "a"), HasSubstr("more than 200 steps"));
  EXPECT_EQ(error(replace("a", "aa", 4), std::string(1000, 'a')), "");
  EXPECT_EQ(error(R"({"type":"NFKC"})", "\uFDFA\uFDFA\uFDFA"), "");
}

TEST(HostileTokenizer, PreTokenizersThatGrowTheText) {
  const std::string original = ReadAll(MIDSCOPE_TESTS
                                       "/core/golden"
                                       "/tokenizers/unigram/tokenizer.json");
  const auto error = [&](const std::string& mark, int count) {
    auto json = nlohmann::json::parse(original);
    nlohmann::json steps = nlohmann::json::array();
    for (int i = 0; i < count; ++i) steps.push_back({{"type", "Metaspace"}, {"replacement", mark}});
    json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", steps}};
    const TemporaryFolder folder;
    folder.Write("tokenizer.json", json.dump());
    return ErrorMessage([&] { Tokenizer::FromFolder(folder.path()); });
  };
  EXPECT_THAT(error("  ", 40), HasSubstr("which is not one character"));
  EXPECT_THAT(error("\u2581", 5000), HasSubstr("steps, which is the limit"));
  EXPECT_EQ(error("\u2581", 2), "");
}

// Each id allowed the next one to be twice as large.
TEST(HostileTokenizer, DeclaredIdsThatDouble) {
  const TemporaryFolder folder;
  folder.Write("tokenizer.json", ReadAll(MIDSCOPE_TESTS "/core/golden"
                                                        "/tokenizers/unigram/tokenizer.json"));
  std::string declared;
  int64_t count = 0;
  for (int64_t id = 9000; id < int64_t{1} << 31; id = 2 * id + 100'000, ++count) {
    declared += (declared.empty() ? "\"" : ",\"") + std::to_string(id) + R"(": {"content": "<)" +
                std::to_string(id) + R"(>"})";
  }
  folder.Write("tokenizer_config.json", R"({"added_tokens_decoder": {)" + declared + "}}");
  // New tokens have the next ids, as in transformers, so that nothing grows with a stated one.
  const Tokenizer tokenizer = Tokenizer::FromFolder(folder.path());
  EXPECT_EQ(tokenizer.vocabulary(), 700 + count);
  EXPECT_THAT(tokenizer.EncodeIds("<9000>"), ::testing::ElementsAre(700));
  EXPECT_THAT(tokenizer.notes(),
              ::testing::Contains(HasSubstr("gives '<9000>' the id 9000; its id is 700")));
}

// llama.cpp PR 25969, for the models that SentencePiece's library reads.
TEST(HostileTokenizer, ByteTokensThatAreNoBytes) {
  for (const std::string token : {"<0x-1>", "<0xZZ>", "<0x1>", "<0xff>", "<0x+1>", "0x0A"}) {
    GgufWriter writer;
    writer.String("tokenizer.ggml.model", "llama");
    writer.Strings("tokenizer.ggml.tokens", {"<unk>", token})
        .Int32s("tokenizer.ggml.token_type", {2, 6});
    writer.RawArray("tokenizer.ggml.scores", GgufType::kFloat32, 2, std::string(8, '\0'));
    const test::TemporaryFile file(writer.Bytes());
    EXPECT_THAT(ErrorMessage([&] { Tokenizer{GgufFile(file.path())}; }),
                HasSubstr("is marked as a byte but is not written as one"))
        << token;
  }
}

TEST(HostileTokenizer, PiecesThatContradictThemselves) {
  const auto error = [](const std::vector<std::string>& tokens, const std::vector<int32_t>& types,
                        float score) {
    GgufWriter writer;
    writer.String("tokenizer.ggml.model", "llama");
    writer.Strings("tokenizer.ggml.tokens", tokens).Int32s("tokenizer.ggml.token_type", types);
    std::string scores;
    for (size_t i = 0; i < tokens.size(); ++i) scores += test::Raw(score);
    writer.RawArray("tokenizer.ggml.scores", GgufType::kFloat32, tokens.size(), scores);
    const test::TemporaryFile file(writer.Bytes());
    return ErrorMessage([&] { Tokenizer{GgufFile(file.path())}; });
  };
  EXPECT_EQ(error({"<unk>", "a"}, {2, 1}, 0), "");
  EXPECT_THAT(error({"a", "b"}, {1, 1}, 0), HasSubstr("has 0 unknown tokens"));
  EXPECT_THAT(error({"<unk>", "a", "a"}, {2, 1, 1}, 0), HasSubstr("occurs twice"));
  EXPECT_THAT(error({"<unk>", "\xff"}, {2, 1}, 0), HasSubstr("is not UTF-8"));
  EXPECT_THAT(error({"<unk>", "a"}, {2, 1}, NAN), HasSubstr("impossible score"));
  EXPECT_THAT(error({"<unk>", "<0x00>"}, {2, 6}, 0), HasSubstr("tokens for 1 of the 256 bytes"));
}

TEST(HostileTokenizer, MutatedChatTemplates) {
  const std::string original =
      "{%- set ns = namespace(a=1) %}{% macro m(x, y='z') %}{{ x ~ y }}{% endmacro %}"
      "{% for message in messages[::-1] if message.role %}{% if loop.first and not (ns.a == 2) %}"
      "{{- message['content'] | trim + '<|end|>\\n' }}{% elif 'a' in message.content %}"
      "{{ m(message.role, y=[1, 2][0]) }}{% else %}{% set ns.a = ns.a + 1 %}{% endif %}{% endfor "
      "%}";
  EXPECT_EQ(RenderChat(original, {{"user", "hi"}}, true), "hi<|end|>\n");
  std::mt19937_64 random(6);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = Mutate(original, &random);
    if (!ErrorMessage([&] {
           RenderChat(text, {{"user", "hi"}, {"assistant", "a"}}, true);
         }).empty())
      ++refused;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 2000);
}

TEST(HostileTokenizer, ChatTemplatesWithoutEnd) {
  const auto error = [](const std::string& text) {
    return ErrorMessage([&] { RenderChat(text, {{"user", "hi"}}, true); });
  };
  std::string sum = "{{ 1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  EXPECT_THAT(error(sum + " }}"), HasSubstr("the limit of 300 parts in one expression"));
  EXPECT_THAT(error("{{ " + std::string(100'000, '(') + std::string(100'000, ')') + " }}"),
              HasSubstr("the limit of 150 parts nested"));
  EXPECT_THAT(error("{{ " + std::string(100'000, '-') + "1 }}"),
              HasSubstr("the limit of 150 parts nested"));
  std::string attributes = "{{ a";
  for (int i = 0; i < 100'000; ++i) attributes += ".b";
  EXPECT_THAT(error(attributes + " }}"), HasSubstr("the limit of 300 parts in one expression"));
  EXPECT_THAT(error("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
              HasSubstr("the limit of 500 parts evaluated"));
  std::string doubled = "{% set ns = namespace(a=['x']) %}";
  for (int i = 0; i < 60; ++i) doubled += "{% set ns.a = ns.a + ns.a %}";
  EXPECT_THAT(error(doubled), HasSubstr("the limit of 1000000 items"));
}

}  // namespace
}  // namespace midscope
