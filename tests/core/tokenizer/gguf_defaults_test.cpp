// SPDX-License-Identifier: MIT
// llama.cpp's defaults for values that are missing in a tokenizer's metadata (src/llama-vocab.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/formats/gguf_file.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"

namespace midscope {
namespace {

using test::GgufWriter;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Byte-level: 256 bytes, then `others`, all of type `type` (0: the file has no types).
GgufWriter ByteLevel(const std::string& pre, const std::vector<std::string>& others,
                     int32_t type = 3) {
  GgufWriter writer = test::TinyModel();
  std::vector<std::string> tokens;
  tokens.reserve(256 + others.size());
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(test::ByteCharacter(byte));
  std::vector<int32_t> types(256, 1);
  for (const std::string& text : others) {
    tokens.push_back(text);
    types.push_back(type);
  }
  for (const char* key : {"tokens", "token_type", "merges", "pre", "bos_token_id", "eos_token_id",
                          "add_bos_token", "unknown_token_id"})
    writer.Remove(std::string("tokenizer.ggml.") + key);
  writer.String("tokenizer.ggml.pre", pre).Strings("tokenizer.ggml.tokens", tokens);
  writer.Strings("tokenizer.ggml.merges", {});
  if (type != 0) writer.Int32s("tokenizer.ggml.token_type", types);
  return writer;
}

Tokenizer Load(const GgufWriter& writer) {
  const test::TemporaryFile file(writer.Bytes());
  return Tokenizer{GgufFile(file.path())};
}

bool EndsText(const Tokenizer& tokenizer, int32_t id) {
  return std::count(tokenizer.end_ids().begin(), tokenizer.end_ids().end(), id) == 1;
}

TEST(GgufDefaults, BosByThePreTokenizer) {
  const std::vector<std::string> others = {"<|begin|>", "<|end|>"};
  const auto load = [&](const std::string& pre) {
    return Load(ByteLevel(pre, others)
                    .Uint32("tokenizer.ggml.bos_token_id", 256)
                    .Uint32("tokenizer.ggml.eos_token_id", 257));
  };
  for (const char* pre :
       {"llama-bpe", "llama3", "llama-v3", "tekken", "falcon3", "falcon-h1", "pixtral", "lfm2"}) {
    EXPECT_THAT(load(pre).begin_ids(), ElementsAre(256)) << pre;
    EXPECT_TRUE(load(pre).add_bos()) << pre;
    EXPECT_THAT(load(pre).notes(), ElementsAre(HasSubstr("text begins with BOS"))) << pre;
  }
  for (const char* pre : {"qwen2", "smollm", "gpt-2", "gpt-4o", "default"}) {
    EXPECT_FALSE(load(pre).add_bos()) << pre;
    EXPECT_THAT(load(pre).notes(), ElementsAre(HasSubstr("text begins without BOS"))) << pre;
  }
  // A value in the file takes precedence.
  GgufWriter writer = ByteLevel("llama-bpe", others);
  writer.Uint32("tokenizer.ggml.bos_token_id", 256).Uint32("tokenizer.ggml.eos_token_id", 257);
  const Tokenizer off = Load(writer.Bool("tokenizer.ggml.add_bos_token", false));
  EXPECT_FALSE(off.add_bos());
  EXPECT_THAT(off.notes(), IsEmpty());
}

TEST(GgufDefaults, IdsThatTheFileLeavesOut) {
  const Tokenizer tokenizer = Load(ByteLevel("llama-bpe", {}));
  EXPECT_EQ(tokenizer.bos_id(), 11);
  EXPECT_EQ(tokenizer.eos_id(), 11);
  EXPECT_THAT(tokenizer.notes(),
              Contains(HasSubstr("tokenizer.ggml.bos_token_id is missing: it is token 11")));
  EXPECT_EQ(Load(ByteLevel("glm4", {})).bos_id(), std::nullopt);
}

TEST(GgufDefaults, EndsByTheirTexts) {
  const std::vector<std::string> ends = {
      "<|eot_id|>", "<|im_end|>",    "<|end|>",         "<|return|>",    "<end_of_turn>",
      "</s>",       "<|endoftext|>", "<|eom_id|>",      "<EOT>",         "_<EOT>",
      "[EOT]",      "[EOS]",         "<|end_of_text|>", "<eos>",         "<end_of_utterance>",
      "[e~[",       "<turn|>",       "<|fim_pad|>",     "<|repo_name|>", "<|file_sep|>"};
  // Types that call them text do not matter.
  for (const int32_t type : {3, 1, 4}) {
    const Tokenizer tokenizer =
        Load(ByteLevel("gpt-2", ends, type).Uint32("tokenizer.ggml.eos_token_id", 256));
    for (size_t i = 0; i < ends.size(); ++i) {
      const auto id = static_cast<int32_t>(256 + i);
      EXPECT_TRUE(EndsText(tokenizer, id)) << ends[i] << type;
      EXPECT_TRUE(tokenizer.IsControl(id)) << ends[i] << type;
      EXPECT_THAT(tokenizer.EncodeIds("a" + ends[i]), ElementsAre('a', id)) << type;
    }
    EXPECT_FALSE(EndsText(tokenizer, 'a'));
  }
}

TEST(GgufDefaults, EndsThatAreNoneBesideOthers) {
  const Tokenizer harmony =
      Load(ByteLevel("gpt-4o", {"<|return|>", "<|call|>", "<|end|>", "<|channel|>"}));
  EXPECT_TRUE(EndsText(harmony, 256));
  EXPECT_TRUE(EndsText(harmony, 257));
  EXPECT_FALSE(EndsText(harmony, 258));
  EXPECT_FALSE(harmony.IsControl(258));
  EXPECT_FALSE(harmony.IsControl(259));
  EXPECT_THAT(harmony.EncodeIds("<|end|>"), ElementsAre(258));
  const Tokenizer gemma = Load(ByteLevel("gpt-4o", {"<|tool_response>", "</s>"}));
  EXPECT_TRUE(EndsText(gemma, 256));
  EXPECT_FALSE(EndsText(gemma, 257));
}

TEST(GgufDefaults, TokensWithoutTypesOrTexts) {
  const Tokenizer tokenizer = Load(ByteLevel("llama-bpe", {"", "xyz", "", "<|eot_id|>"}, 0));
  EXPECT_EQ(tokenizer.TokenText(256), "[EMPTY_256]");
  EXPECT_EQ(tokenizer.TokenText(258), "[EMPTY_258]");
  EXPECT_THAT(tokenizer.EncodeIds("xyz"), ElementsAre(257));
  EXPECT_THAT(tokenizer.EncodeIds("a<|eot_id|>"), ElementsAre('a', 259));
}

// SentencePiece's form: unknown, <s>, </s>, 256 bytes, a, b.
TEST(GgufDefaults, SentencePieceWithoutTypes) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    tokens.push_back(std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">");
  }
  tokens.insert(tokens.end(), {"\u2581", "a", "b"});
  GgufWriter writer = test::TinyModel();
  for (const char* key : {"tokens", "token_type", "merges", "pre", "model", "bos_token_id",
                          "eos_token_id", "add_bos_token", "unknown_token_id"})
    writer.Remove(std::string("tokenizer.ggml.") + key);
  writer.String("tokenizer.ggml.model", "llama").Strings("tokenizer.ggml.tokens", tokens);
  std::string scores;
  for (size_t i = 0; i < tokens.size(); ++i) scores += test::Raw(-static_cast<float>(i));
  writer.RawArray("tokenizer.ggml.scores", GgufType::kFloat32, tokens.size(), scores);
  const Tokenizer tokenizer = Load(writer);
  EXPECT_THAT(tokenizer.EncodeIds("ac"), ElementsAre(259, 260, 3 + 'c'));
  EXPECT_THAT(tokenizer.begin_ids(), ElementsAre(1));
  EXPECT_EQ(tokenizer.eos_id(), 2);
  EXPECT_TRUE(EndsText(tokenizer, 2));
  EXPECT_THAT(tokenizer.notes(), Contains(HasSubstr("llama.cpp's default for SentencePiece")));
}

// llama.cpp takes white space after them as a part of the token.
TEST(GgufDefaults, SpecialTokensOfPhi3TakeTheSpaceBehindThem) {
  const std::vector<std::string> others = {"<|user|>", "<|end|>", "<|endoftext|>"};
  const auto ids = [&](const std::string& name) {
    return Load(ByteLevel("gpt-2", others).Remove("general.name").String("general.name", name))
        .EncodeIds("<|user|>\na<|endoftext|> ");
  };
  EXPECT_THAT(ids("Phi-3 mini"), ElementsAre(256, 'a', 258, ' '));
  EXPECT_THAT(ids("Another"), ElementsAre(256, '\n', 'a', 258, ' '));
}

}  // namespace
}  // namespace midscope
