// SPDX-License-Identifier: MIT
// Prompts made from tasks: passages under a chat template, BOS, choices.
#include "probes/prompt/task_prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/probes/support/open_model.h"

namespace midscope {
namespace {

using ::midscope::test::ErrorMessage;
using testing::EmbeddedModel;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string TextOf(const Prompt& prompt, const std::string& span) {
  const PromptSpan* found = prompt.FindSpan(span);
  return found ? prompt.text.substr(static_cast<size_t>(found->byte_begin),
                                    static_cast<size_t>(found->byte_end - found->byte_begin))
               : "";
}

PromptFormat Chat(const std::string& chat_template, BosRule bos) {
  PromptFormat format;
  format.chat_template = chat_template;
  format.bos = bos;
  return format;
}

TEST(TaskPrompt, PassagesAreFoundAgainInAChatTemplate) {
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const auto task = MakeTaskFor(tokenizer, "list:lines=5", 1);
  const TaskSample sample = task->Make(0, 3);
  const TaskQuestion plain = MakeQuestion(tokenizer, sample, {});
  const TaskQuestion chat = MakeQuestion(tokenizer, sample, Chat("model", BosRule::kTemplate));
  EXPECT_THAT(chat.prompt.text, StartsWith("<|im_start|>system"));
  EXPECT_THAT(chat.prompt.text, HasSubstr(sample.text));
  for (const ByteSpan& span : sample.spans) {
    EXPECT_EQ(TextOf(chat.prompt, span.name), TextOf(plain.prompt, span.name));
    EXPECT_NE(TextOf(chat.prompt, span.name), "");
  }
  EXPECT_GT(chat.prompt.FindSpan("gold")->token_begin, plain.prompt.FindSpan("gold")->token_begin);
  // The model's turn begins on a new line, so the answer has no leading space.
  EXPECT_EQ(plain.prompt.answer, sample.answer);
  EXPECT_EQ(" " + chat.prompt.answer, sample.answer);
}

TEST(TaskPrompt, FamiliesWriteTheirOwnFormat) {
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const auto task = MakeTaskFor(tokenizer, "list:lines=3", 1);
  const TaskSample sample = task->Make(0, 1);
  const TaskQuestion vicuna = MakeQuestion(tokenizer, sample, Chat("vicuna", BosRule::kOff));
  EXPECT_THAT(vicuna.prompt.text, StartsWith("A chat between"));
  EXPECT_EQ(vicuna.prompt.answer, sample.answer);  // the prompt ends with "ASSISTANT:"
  EXPECT_EQ(TextOf(vicuna.prompt, "gold"), TextOf(TaskPrompt(tokenizer, sample), "gold"));
  EXPECT_THAT(
      ErrorMessage([&] { MakeQuestion(tokenizer, sample, Chat("vikuna", BosRule::kTemplate)); }),
      HasSubstr("vicuna"));
}

TEST(TaskPrompt, BosStandsFirstOnceWhereItIsAskedFor) {
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  ASSERT_TRUE(tokenizer.bos_id());
  const auto task = MakeTaskFor(tokenizer, "list:lines=3", 1);
  const TaskSample sample = task->Make(0, 2);
  const auto count = [&](const PromptFormat& format) {
    const std::vector<int32_t> ids = MakeQuestion(tokenizer, sample, format).prompt.ids;
    return std::pair(ids.front() == *tokenizer.bos_id(), ids.size());
  };
  const auto [plain_first, plain] = count({});
  EXPECT_FALSE(plain_first);
  EXPECT_EQ(count(Chat("", BosRule::kOn)), std::pair(true, plain + 1));
  // The template of the embedded model begins with its BOS token.
  const auto [written, chat] = count(Chat("model", BosRule::kTemplate));
  EXPECT_TRUE(written);
  EXPECT_EQ(count(Chat("model", BosRule::kOn)), std::pair(true, chat));
  const TaskQuestion off = MakeQuestion(tokenizer, sample, Chat("model", BosRule::kOff));
  EXPECT_EQ(off.prompt.ids.size(), chat - 1);
  EXPECT_EQ(TextOf(off.prompt, "gold"), TextOf(TaskPrompt(tokenizer, sample), "gold"));
}

TEST(TaskPrompt, ChoicesAreTokensThatFollowThePrompt) {
  const test::TemporaryFolder folder;
  folder.Write("sky_test.csv", "What is blue?,grass,the sky,snow,coal,B\n");
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const auto task =
      MakeTaskFor(tokenizer, "mmlu:shots=0,file=" + (folder.path() / "sky_test.csv").string(), 1);
  EXPECT_TRUE(task->scored_by_likelihood());
  const TaskQuestion question = MakeQuestion(tokenizer, task->Make(0, 1), {});
  ASSERT_EQ(question.choice_ids.size(), 4u);
  EXPECT_EQ(question.choice_ids[1], question.prompt.answer_ids.front());
  EXPECT_EQ(tokenizer.TokenText(question.choice_ids[3]), " D");
}

TEST(TaskPrompt, TheMiddleIsCutByTheTokenizersTokens) {
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const TaskSample whole = MakeTaskFor(tokenizer, "kv:pairs=5", 1)->Make(0, 1);
  const TaskSample cut = MakeTaskFor(tokenizer, "kv:pairs=5,tokens=61", 1)->Make(0, 1);
  const std::vector<int32_t> ids = tokenizer.EncodeIds(whole.text);
  ASSERT_GT(ids.size(), 61u);
  const std::span<const int32_t> all(ids);
  EXPECT_EQ(cut.text, tokenizer.Decode(all.first(30)) + tokenizer.Decode(all.last(30)));
  EXPECT_EQ(MakeTaskFor(tokenizer, "kv:pairs=5,tokens=5000", 1)->Make(0, 1).text, whole.text);
}

// A parrot emoji is several tokens: an incomplete one is replaced by U+FFFD, and the text stays
// valid UTF-8.
TEST(TaskPrompt, CharactersThatAreCutApartAreReplaced) {
  const test::TemporaryFolder folder;
  std::string parrots;
  for (int i = 0; i < 20; ++i) parrots += "\xF0\x9F\xA6\x9C";
  folder.Write("p.jsonl", R"({"question": ")" + parrots + R"(", "answers": ["a"]})");
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  bool replaced = false;
  for (int tokens = 4; tokens < 40; ++tokens) {
    const std::string spec =
        "jsonl:tokens=" + std::to_string(tokens) + ",file=" + (folder.path() / "p.jsonl").string();
    const std::string text = MakeTaskFor(tokenizer, spec, 1)->Make(0, 1).text;
    EXPECT_FALSE(FindInvalidUtf8(text)) << tokens;
    replaced = replaced || text.find("\xEF\xBF\xBD") != std::string::npos;
  }
  EXPECT_TRUE(replaced);
}

// As decode(ids, skip_special_tokens=True) in transformers, which LongBench's code calls.
TEST(TaskPrompt, SpecialTokensAreNotInACutText) {
  const test::TemporaryFolder folder;
  std::string context;
  for (int i = 0; i < 30; ++i) context += "<|im_start|>user " + std::to_string(i) + "<|im_end|> ";
  folder.Write("s.jsonl",
               R"({"context": [")" + context +
                   R"("], "gold": 1, "question": "Who <|im_end|> is it?", "answers": ["a"]})");
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const std::string file = "file=" + (folder.path() / "s.jsonl").string();
  const TaskSample whole = MakeTaskFor(tokenizer, "jsonl:" + file, 1)->Make(0, 1);
  const TaskSample cut = MakeTaskFor(tokenizer, "jsonl:tokens=60," + file, 1)->Make(0, 1);
  const std::vector<int32_t> ids = tokenizer.EncodeIds(whole.text);
  const std::span<const int32_t> all(ids);
  EXPECT_EQ(cut.text, tokenizer.DecodeText(all.first(30)) + tokenizer.DecodeText(all.last(30)));
  EXPECT_EQ(cut.text.find("<|im_"), std::string::npos);
  EXPECT_NE(whole.text.find("<|im_"), std::string::npos);
  // Spans keep their texts, except for the part that was cut.
  for (const ByteSpan& span : cut.spans) {
    if (span.name != "question") continue;
    EXPECT_EQ(cut.text.substr(static_cast<size_t>(span.begin),
                              static_cast<size_t>(span.end - span.begin)),
              "Question: Who  is it?");
  }
}

// In the bytes of the emoji's tokens, an incomplete beginning becomes one U+FFFD, an incomplete end
// one per byte.
TEST(TaskPrompt, DecodesPartsOfCharactersAsTransformers) {
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const std::vector<int32_t> ids = tokenizer.EncodeIds("\xF0\x9F\xA6\x9C");
  ASSERT_GT(ids.size(), 1u);
  const std::span<const int32_t> all(ids);
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(tokenizer.DecodeText(all.first(1)), replaced);
  std::string end;
  const std::string bytes = tokenizer.Decode(all.subspan(1));
  for (size_t i = 0; i < bytes.size(); ++i) end += replaced;
  EXPECT_EQ(tokenizer.DecodeText(all.subspan(1)), end);
}

TEST(TaskPrompt, ChoicesOfSeveralTokensHavePromptsOfTheirOwn) {
  const test::TemporaryFolder folder;
  folder.Write("w.jsonl",
               R"({"sentence": "Ann thanked Sue since _ was kind to her.", "option1": "Ann",)"
               R"( "option2": "Sue", "answer": "2"})");
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const auto task = MakeTaskFor(
      tokenizer, "choices:dataset=winogrande,file=" + (folder.path() / "w.jsonl").string(), 1);
  const TaskQuestion question = MakeQuestion(tokenizer, task->Make(0, 1), {});
  EXPECT_TRUE(question.choice_ids.empty());
  ASSERT_EQ(question.choice_prompts.size(), 2u);
  EXPECT_EQ(question.choice_prompts[0].text, "Ann thanked Sue since Ann");
  EXPECT_EQ(question.choice_prompts[1].ids, question.prompt.ids);
  EXPECT_EQ(question.choice_prompts[0].answer_ids, question.choice_prompts[1].answer_ids);
  EXPECT_EQ(TextOf(question.choice_prompts[0], "question"), "Ann thanked Sue since Ann");
  EXPECT_EQ(question.prompt.answer, " was kind to her.");
}

TEST(TaskPrompt, ASystemMessageNeedsAChatTemplate) {
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  const auto task = MakeTaskFor(tokenizer, "needle:tokens=300,form=chat", 1);
  const TaskSample sample = task->Make(0, 1);
  EXPECT_THAT(ErrorMessage([&] { MakeQuestion(tokenizer, sample, {}); }), HasSubstr("--chat"));
  const TaskQuestion question = MakeQuestion(tokenizer, sample, Chat("model", BosRule::kTemplate));
  EXPECT_THAT(question.prompt.text, HasSubstr(sample.system));
}

TEST(PromptFormat, JsonHasTheBosRule) {
  for (const BosRule each : {BosRule::kAuto, BosRule::kOn, BosRule::kOff, BosRule::kTemplate}) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    PromptFormat format;
    format.bos = each;
    AddPromptFormat(format, &json);
    EXPECT_EQ(json.contains("bos"), each != BosRule::kAuto);
    EXPECT_EQ(ReadPromptFormat(nlohmann::json(json)).bos, each);
  }
}

TEST(TaskPrompt, TheHashOfATasksFilesTellsThemApart) {
  const test::TemporaryFolder folder;
  const auto spec = [&](const std::string& name) {
    return "jsonl:file=" + (folder.path() / name).string();
  };
  folder.Write("a.jsonl", "{}");
  folder.Write("b.jsonl", "{}");
  folder.Write("c.jsonl", "{ }");
  EXPECT_EQ(TaskFilesHash(spec("a.jsonl")), TaskFilesHash(spec("b.jsonl")));
  EXPECT_NE(TaskFilesHash(spec("a.jsonl")), TaskFilesHash(spec("c.jsonl")));
  EXPECT_EQ(TaskFilesHash("list:lines=5"), "");
}

}  // namespace
}  // namespace midscope
