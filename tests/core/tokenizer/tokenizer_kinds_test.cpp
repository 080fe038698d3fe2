// SPDX-License-Identifier: MIT
// Small tokenizers of every kind (tokenizers/, written by make_tokenizers.py), each in all its
// formats. Expected ids are those of `tokenizers` and `sentencepiece`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/base/utf8.h"
#include "core/formats/gguf_file.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kFolder = MIDSCOPE_TESTS
    "/core/golden"
    "/tokenizers/";

struct Golden {
  std::string kind;
  std::string text;
  std::vector<int32_t> ids;
};

const std::vector<Golden>& GoldenLines() {
  static const std::vector<Golden> lines = [] {
    std::vector<Golden> read;
    std::ifstream file(std::string(kFolder) + "golden.jsonl");
    for (std::string line; std::getline(file, line);) {
      const auto json = nlohmann::json::parse(line);
      read.push_back({json["kind"], json["text"], json["ids"]});
    }
    return read;
  }();
  return lines;
}

// Encodes the golden lines of `kind`; returns how many there are.
int Compare(const std::string& kind, const Tokenizer& tokenizer) {
  int count = 0;
  for (const Golden& golden : GoldenLines()) {
    if (golden.kind != kind) continue;
    ++count;
    EXPECT_EQ(tokenizer.EncodeIds(golden.text), golden.ids) << kind << ": " << golden.text;
  }
  return count;
}

class TokenizerKinds : public ::testing::TestWithParam<std::string> {};

TEST_P(TokenizerKinds, GivesTheGoldenIds) {
  EXPECT_GE(Compare(GetParam(), Tokenizer::FromFolder(std::string(kFolder) + GetParam())), 8);
}

// Ranges are in order inside the text, and decoding never fails.
TEST_P(TokenizerKinds, SaysWhichBytesATokenComesFrom) {
  const Tokenizer tokenizer = Tokenizer::FromFolder(std::string(kFolder) + GetParam());
  for (const Golden& golden : GoldenLines()) {
    if (golden.kind != GetParam()) continue;
    int64_t begin = 0;
    for (const Token& token : tokenizer.Encode(golden.text)) {
      EXPECT_LE(begin, token.byte_begin) << golden.text;
      EXPECT_LE(token.byte_begin, token.byte_end);
      EXPECT_LE(token.byte_end, static_cast<int64_t>(golden.text.size()));
      begin = token.byte_begin;
    }
    EXPECT_NO_THROW(tokenizer.Decode(tokenizer.EncodeIds(golden.text)));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenizerKinds,
                         ::testing::Values("llama3", "qwen2", "flags", "llama2", "llama2_first",
                                           "gemma", "unigram", "unigram_bytes", "mixed",
                                           "llama2_model", "gemma_model", "unigram_model"),
                         [](const auto& kind) { return kind.param; });

TEST(TokenizerFormats, GiveTheSameIds) {
  const auto gguf = [](const std::string& kind) {
    return Tokenizer(GgufFile(std::string(kFolder) + kind + ".gguf"));
  };
  EXPECT_GE(Compare("qwen2", gguf("qwen2")), 20);
  EXPECT_GE(Compare("llama2", gguf("llama2")), 20);
  EXPECT_GE(Compare("llama2_model", gguf("llama2")), 20);
  EXPECT_GE(Compare("unigram_model", gguf("unigram")), 8);
  EXPECT_GE(Compare("llama2", Tokenizer::FromFolder(std::string(kFolder) + "llama2_model")), 20);
}

// A GGUF file of the kind "gemma4" with the vocabulary and merges of the folder.
TEST(TokenizerFormats, MergesOfCharactersInGgufGiveTheIdsOfTheFolder) {
  std::ifstream file(std::string(kFolder) + "gemma/tokenizer.json");
  const auto json = nlohmann::json::parse(file);
  const auto& vocabulary = json["model"]["vocab"];
  std::vector<std::string> tokens(vocabulary.size());
  std::vector<int32_t> types(tokens.size(), 1);
  for (const auto& [text, id] : vocabulary.items()) {
    tokens.at(id.get<size_t>()) = text;
    if (text.starts_with("<0x")) types.at(id.get<size_t>()) = 6;
  }
  for (const auto& added : json["added_tokens"]) {
    tokens.at(added["id"].get<size_t>()) = added["content"];
    types.at(added["id"].get<size_t>()) = added["special"].get<bool>() ? 3 : 4;
  }
  std::vector<std::string> merges;
  merges.reserve(json["model"]["merges"].size());
  for (const auto& merge : json["model"]["merges"])
    merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  test::GgufWriter writer = test::TinyModel();
  for (const char* key : {"model", "tokens", "token_type", "merges", "pre", "scores",
                          "bos_token_id", "eos_token_id", "add_bos_token", "unknown_token_id"})
    writer.Remove(std::string("tokenizer.ggml.") + key);
  writer.String("tokenizer.ggml.model", "gemma4").Strings("tokenizer.ggml.tokens", tokens);
  writer.Int32s("tokenizer.ggml.token_type", types).Strings("tokenizer.ggml.merges", merges);
  writer.Uint32("tokenizer.ggml.unknown_token_id", 0).Uint32("tokenizer.ggml.bos_token_id", 1);
  writer.Uint32("tokenizer.ggml.eos_token_id", 2);
  const test::TemporaryFile gguf(writer.Bytes());
  const Tokenizer tokenizer{GgufFile(gguf.path())};
  EXPECT_GE(Compare("gemma", tokenizer), 8);
  EXPECT_THAT(tokenizer.begin_ids(), ElementsAre(1));
  EXPECT_EQ(tokenizer.Decode(tokenizer.EncodeIds("a \n\n  b \u6f22")), "a \n\n  b \u6f22");
}

TEST(TokenizerFormats, DecodeCharactersThatAreCutIntoBytes) {
  for (const std::string kind : {"llama2", "llama2_model", "llama3"}) {
    const Tokenizer tokenizer = Tokenizer::FromFolder(std::string(kFolder) + kind);
    const std::string text = "a \u6f22\U0001F9FF\u00e9 b";
    const auto tokens = tokenizer.Encode(text);
    EXPECT_EQ(tokenizer.BytesWithoutToken(text, tokens), 0);
    const std::string decoded = tokenizer.Decode(tokenizer.EncodeIds(text));
    EXPECT_TRUE(decoded == text || decoded == " " + text) << kind << ": " << decoded;
    // Parts of a character are themselves.
    std::string joined;
    for (const Token& token : tokens) joined += tokenizer.TokenText(token.id);
    EXPECT_EQ(joined, decoded);
  }
}

TEST(TokenizerFormats, CountsBytesThatAreUnknown) {
  const Tokenizer tokenizer = Tokenizer::FromFolder(std::string(kFolder) + "unigram");
  const std::string text = "the \U0001F9FF the";
  EXPECT_EQ(tokenizer.BytesWithoutToken(text, tokenizer.Encode(text)), 4);
}

constexpr const char* kTiny = R"({"added_tokens": [
    {"id": 3, "content": "<s>", "special": true}, {"id": 4, "content": "</s>", "special": true}],
  "post_processor": {"type": "TemplateProcessing", "single": [
    {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]},
  "model": {"type": "BPE", "unk_token": "a", "vocab": {"a": 0, "b": 1, "ab": 2},
            "merges": [["a", "b"]]}})";

std::string LoadError(const std::string& json) {
  TemporaryFolder folder;
  folder.Write("tokenizer.json", json);
  return ErrorMessage([&] { Tokenizer::FromFolder(folder.path()); });
}

std::string Replaced(const std::string& from, const std::string& to) {
  std::string json = kTiny;
  json.replace(json.find(from), from.size(), to);
  return json;
}

TEST(TokenizerFolder, ReadsWhatItsFilesSay) {
  TemporaryFolder folder;
  folder.Write("tokenizer.json", kTiny);
  folder.Write("tokenizer_config.json", R"({"eos_token": {"content": "</s>"}, "bos_token": "<s>",
      "chat_template": [{"name": "tool", "template": "x"}, {"name": "default", "template": "y"}],
      "added_tokens_decoder": {"5": {"content": "<pad>", "special": true}}})");
  folder.Write("generation_config.json", R"({"eos_token_id": [4, 5]})");
  const Tokenizer tokenizer = Tokenizer::FromFolder(folder.path());
  EXPECT_EQ(tokenizer.bos_id(), 3);
  EXPECT_EQ(tokenizer.eos_id(), 4);
  EXPECT_THAT(tokenizer.end_ids(), ElementsAre(4, 5));
  EXPECT_TRUE(tokenizer.add_bos());
  EXPECT_EQ(tokenizer.vocabulary(), 6);
  EXPECT_EQ(tokenizer.chat_template(), "y");
  // Nothing is added; declared tokens are found.
  EXPECT_THAT(tokenizer.EncodeIds("ab<pad>b"), ElementsAre(2, 5, 1));
  folder.Write("tokenizer_config.json", R"({"add_bos_token": false})");
  folder.Write("chat_template.json", R"({"chat_template": "p"})");
  EXPECT_EQ(Tokenizer::FromFolder(folder.path()).chat_template(), "p");
  folder.Write("chat_template.jinja", "z");
  EXPECT_EQ(Tokenizer::FromFolder(folder.path()).chat_template(), "z");
  // The post-processor decides, as in transformers 5: the flag is for tokenizers without one.
  EXPECT_TRUE(Tokenizer::FromFolder(folder.path()).add_bos());
}

TEST(TokenizerFolder, RefusesByName) {
  EXPECT_EQ(LoadError(kTiny), "");
  EXPECT_THAT(LoadError(Replaced("\"BPE\"", "\"WordPiece\"")), HasSubstr("'WordPiece'"));
  EXPECT_THAT(LoadError(Replaced("\"model\"", R"("normalizer": {"type": "Nmt"}, "model")")),
              HasSubstr("its normalizer 'Nmt' is not supported"));
  EXPECT_THAT(LoadError(Replaced("\"model\"", R"("pre_tokenizer": {"type": "Sequence",
      "pretokenizers": [{"type": "UnicodeScripts"}]}, "model")")),
              HasSubstr("its pre_tokenizer[0] 'UnicodeScripts' is not supported"));
  EXPECT_THAT(LoadError(Replaced("\"model\"", R"("decoder": {"type": "CTC"}, "model")")),
              HasSubstr("its decoder 'CTC'"));
  EXPECT_THAT(LoadError(Replaced("TemplateProcessing", "Unheard")), HasSubstr("'Unheard'"));
  EXPECT_THAT(LoadError(Replaced("\"merges\"", R"("dropout": 0.1, "merges")")),
              HasSubstr("has a 'dropout'"));
  EXPECT_THAT(LoadError(Replaced("\"merges\"", R"("end_of_word_suffix": "</w>", "merges")")),
              HasSubstr("'end_of_word_suffix'"));
  EXPECT_THAT(LoadError(Replaced("\"model\"", R"("pre_tokenizer": {"type": "Split", "invert": false,
      "behavior": "Isolated", "pattern": {"Regex": "[a&&[^b]]"}}, "model")")),
              HasSubstr("an intersection of classes at byte 2 is not supported"));
}

TEST(TokenizerFolder, RefusesContradictions) {
  EXPECT_THAT(LoadError(Replaced("\"ab\": 2", "\"ab\": 1")), HasSubstr("has the id 1 for"));
  EXPECT_THAT(LoadError(Replaced("\"ab\": 2", "\"ab\": -2")), HasSubstr("not a token id"));
  EXPECT_THAT(LoadError(Replaced("\"ab\": 2", "\"ab\": 2000000000")),
              HasSubstr("has the id 2000000000 for one of 3 tokens"));
  EXPECT_THAT(LoadError(Replaced("[\"a\", \"b\"]", "[\"b\", \"a\"]")),
              HasSubstr("merge 0, which needs 'ba'"));
  // As transformers, which warns.
  TemporaryFolder other;
  other.Write("tokenizer.json", Replaced("\"content\": \"</s>\"", "\"content\": \"b\""));
  EXPECT_THAT(Tokenizer::FromFolder(other.path()).notes(),
              ElementsAre(HasSubstr("tokenizer.json gives 'b' the id 4; its id is 1")));
  EXPECT_THAT(LoadError("{\"model\": "), HasSubstr("it is not JSON"));
  EXPECT_THAT(LoadError("[1]"), HasSubstr("must be an object"));
  TemporaryFolder empty;
  EXPECT_THAT(ErrorMessage([&] { Tokenizer::FromFolder(empty.path()); }),
              HasSubstr("neither tokenizer.json, tekken.json nor tokenizer.model"));
}

}  // namespace
}  // namespace midscope
