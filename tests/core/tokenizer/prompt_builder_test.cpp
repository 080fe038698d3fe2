// SPDX-License-Identifier: MIT
#include "core/tokenizer/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/formats/gguf_file.h"
#include "core/model/model_source.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::TemporaryFile;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Tokenizer& EmbeddedTokenizer() {
  static const Tokenizer tokenizer{GgufFile(ModelPath("embedded"))};
  return tokenizer;
}

Prompt Build(const std::string& text, const std::vector<std::string>& spans = {},
             const std::string& answer = "", bool bos = false) {
  std::vector<ByteSpan> bytes;
  bytes.reserve(spans.size());
  for (const std::string& span : spans) bytes.push_back(FindSpanBytes(text, ParseSpan(span)));
  return BuildPrompt(EmbeddedTokenizer(), text, bytes, answer, bos);
}

std::string BuildError(const std::string& text, const std::vector<std::string>& spans,
                       const std::string& answer = "") {
  return ErrorMessage([&] { Build(text, spans, answer); });
}

TEST(PromptBuilder, MapsSpansToTheTokensThatOverlapThem) {
  const Prompt prompt =
      Build("The capital of France is", {"gold=of France", "part=6:9", "all=0:24"});
  EXPECT_THAT(prompt.ids, ElementsAre(504, 3575, 282, 4649, 314));
  EXPECT_THAT(prompt.tokens, ElementsAre("The", " capital", " of", " France", " is"));
  const PromptSpan* gold = prompt.FindSpan("gold");
  ASSERT_NE(gold, nullptr);
  EXPECT_EQ(gold->byte_begin, 12);
  EXPECT_EQ(gold->byte_end, 21);
  EXPECT_EQ(gold->token_begin, 2);
  EXPECT_EQ(gold->token_end, 4);
  EXPECT_EQ(prompt.FindSpan("part")->token_begin, 1);
  EXPECT_EQ(prompt.FindSpan("part")->token_end, 2);
  EXPECT_EQ(prompt.FindSpan("all")->token_end, 5);
  EXPECT_EQ(prompt.FindSpan("silver"), nullptr);
}

TEST(PromptBuilder, CountsBosInTokenIndices) {
  const Prompt prompt = Build("The capital of France is", {"gold=of France"}, " Paris", true);
  EXPECT_THAT(prompt.ids, ElementsAre(1, 504, 3575, 282, 4649, 314));
  EXPECT_EQ(prompt.tokens[0], "<|im_start|>");
  EXPECT_EQ(prompt.spans[0].token_begin, 3);
  EXPECT_EQ(prompt.spans[0].token_end, 5);
  EXPECT_THAT(prompt.answer_ids, ElementsAre(7042));
}

TEST(PromptBuilder, ContinuesThePromptWithTheAnswer) {
  EXPECT_THAT(Build("The capital of France is", {}, " Paris").answer_ids, ElementsAre(7042));
  EXPECT_TRUE(Build("The capital").answer_ids.empty());
  // "capit" + "al" is "capital" when tokenised together: the prompt's ids are not a prefix, so the
  // answer is tokenised alone.
  const Prompt prompt = Build("The capit", {}, "al");
  EXPECT_EQ(EmbeddedTokenizer().Decode(prompt.ids), "The capit");
  EXPECT_EQ(prompt.answer_ids, EmbeddedTokenizer().EncodeIds("al"));
  EXPECT_EQ(Build("a\n", {}, "b").answer_ids, EmbeddedTokenizer().EncodeIds("b"));
}

TEST(PromptBuilder, ShowsTokensFitForLabels) {
  const Prompt prompt = Build("a\n\xe2\x9c\x88");
  EXPECT_EQ(prompt.tokens[1], "\\n");
  EXPECT_EQ(prompt.bytes_without_token, 0);
  EXPECT_EQ(Build("a\x04").bytes_without_token, 1);
}

TEST(PromptBuilder, ParsesSpans) {
  const SpanRequest bytes = ParseSpan("gold=12:40");
  EXPECT_TRUE(bytes.text.empty());
  EXPECT_EQ(bytes.span, (ByteSpan{"gold", 12, 40}));
  EXPECT_EQ(ParseSpan("gold=at 12:40").text, "at 12:40");
  EXPECT_EQ(ParseSpan("gold=-1:4").text, "-1:4");
  EXPECT_EQ(ParseSpan("gold=a=b").text, "a=b");
  EXPECT_EQ(ParseSpan("pair 7=1:").text, "1:");
  for (const char* wrong : {"gold", "=text", "gold=", ""}) {
    EXPECT_THAT(ErrorMessage([&] { ParseSpan(wrong); }),
                HasSubstr("NAME=TEXT or NAME=START:END (bytes)"))
        << wrong;
  }
}

TEST(PromptBuilder, NamesTheSpanThatIsWrong) {
  EXPECT_THAT(BuildError("aXbXc", {"gold=X"}),
              AllOf(HasSubstr("span 'gold'"), HasSubstr("more than once")));
  EXPECT_THAT(BuildError("ababa", {"gold=aba"}), HasSubstr("more than once"));
  EXPECT_THAT(BuildError("abc", {"gold=X"}),
              AllOf(HasSubstr("'X' does not occur"), HasSubstr("prompt. Copy it from the prompt"),
                    HasSubstr("gold=START:END")));
  EXPECT_THAT(BuildError("abc", {"gold=2:4"}),
              HasSubstr("bytes 2:4 are not a passage of the prompt, which has 3 bytes. Passages of "
                        "the prompt are counted in bytes, span= of a term in tokens"));
  EXPECT_THAT(BuildError("abc", {"gold=2:2"}), HasSubstr("not a passage"));
  EXPECT_THAT(BuildError("abc", {"gold=0:99999999999999999999"}), HasSubstr("does not occur"));
  EXPECT_THAT(BuildError("abc", {"gold=a", "gold=b"}),
              HasSubstr("span 'gold': is named twice. Give"));
  EXPECT_THAT(BuildError("abc\x04", {"gold=3:4"}),
              HasSubstr("no token of the prompt overlaps it. Give"));
  EXPECT_THAT(BuildError("", {}), HasSubstr("it has no tokens"));
  EXPECT_THAT(BuildError("abc", {}, "\x04"),
              HasSubstr("has no tokens in this model's vocabulary. Give"));
  EXPECT_THAT(BuildError("abc\xff", {}), HasSubstr("prompt: not UTF-8 at byte 3"));
}

TEST(PromptBuilder, ReadsFilesAsTheyAre) {
  const std::string bytes = "\xef\xbb\xbf a\r\n\tb\n\n";
  EXPECT_EQ(ReadPromptFile(TemporaryFile(bytes).path()), bytes);
  const TemporaryFile broken("abc\xc3(");
  EXPECT_THAT(ErrorMessage([&] { ReadPromptFile(broken.path()); }),
              AllOf(HasSubstr(broken.path().string()), HasSubstr("not UTF-8 at byte 3 (0xC3)")));
  EXPECT_THAT(ErrorMessage([] { ReadPromptFile("/nowhere/p.txt"); }),
              HasSubstr("cannot be opened"));
  EXPECT_THAT(ErrorMessage([] { ReadPromptFile("/"); }), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace midscope
