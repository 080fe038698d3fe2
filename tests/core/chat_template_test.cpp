// SPDX-License-Identifier: MIT
#include "core/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/embedded_model.h"
#include "core/gguf_file.h"
#include "core/tokenizer.h"
#include "tests/core/error_message.h"
#include "tests/core/gguf_writer.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::HasSubstr;

constexpr const char* kDefaultSystem =
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
    "Face<|im_end|>\n";
// As in tokenizer_config.json of other ChatML models: newlines written \n, no default system
// message.
constexpr const char* kPlain =
    R"({% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + )"
    R"(message['content'] + '<|im_end|>' + '\n'}}{% endfor %})"
    R"({% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})";

std::string EmbeddedTemplate() {
  return GgufFile(ModelPath("embedded")).GetString("tokenizer.chat_template").value_or("");
}

// Texts as apply_chat_template of transformers gives them for the embedded model.
TEST(ChatTemplate, AddsTheDefaultSystemMessage) {
  EXPECT_EQ(RenderChat(EmbeddedTemplate(), {{"user", "hi"}}, false),
            kDefaultSystem + std::string("<|im_start|>user\nhi<|im_end|>\n"));
  EXPECT_EQ(
      RenderChat(EmbeddedTemplate(), {{"user", "hi"}}, true),
      kDefaultSystem + std::string("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"));
}

TEST(ChatTemplate, KeepsAGivenSystemMessage) {
  EXPECT_EQ(RenderChat(EmbeddedTemplate(),
                       {{"system", " S "}, {"user", "hi"}, {"assistant", "yes"}}, false),
            "<|im_start|>system\n S "
            "<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n");
}

TEST(ChatTemplate, ReadsPlainChatMl) {
  EXPECT_EQ(RenderChat(kPlain, {{"user", "a\\n'b'"}}, true),
            "<|im_start|>user\na\\n'b'<|im_end|>\n<|im_start|>assistant\n");
}

// What transformers makes of seeded conversations (chat_golden.jsonl, written by
// compare_chat_template.py) with the templates of every family; null: it refuses.
TEST(ChatTemplate, RendersEveryFamilyAsTransformers) {
  std::ifstream file(MIDSCOPE_TEST_DATA "/chat_golden.jsonl");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto golden = nlohmann::json::parse(line);
    std::vector<ChatMessage> messages;
    for (const auto& message : golden["messages"])
      messages.push_back({message["role"], message["content"]});
    const auto render = [&] {
      return RenderChat(golden["template"].get<std::string>(), messages,
                        golden["add_generation_prompt"], {golden["bos"], golden["eos"]});
    };
    if (golden["text"].is_null()) {
      EXPECT_NE(ErrorMessage([&] { render(); }), "") << golden["name"];
    } else {
      EXPECT_EQ(render(), golden["text"].get<std::string>()) << golden["name"];
    }
  }
  EXPECT_EQ(lines, 75);
}

TEST(ChatTemplate, RefusesWhatItCannotRender) {
  const auto error = [](const std::string& text) {
    return ErrorMessage([&] { RenderChat(text, {{"user", "hi"}}, true); });
  };
  EXPECT_THAT(error("{{ messages | shuffle }}"), HasSubstr("line 1: the filter 'shuffle'"));
  EXPECT_THAT(error("\n{{ messages is heavy }}"), HasSubstr("line 2: the test 'heavy'"));
  EXPECT_THAT(error("{{ strftime_now('%Y') }}"), HasSubstr("the function 'strftime_now'"));
  EXPECT_THAT(error("{% include 'x' %}"), HasSubstr("'include' is not supported"));
  EXPECT_THAT(error("{{ 'a' + 1 }}"), HasSubstr("no whole number"));
  EXPECT_THAT(error("{{ nothing.at.all }}"), HasSubstr("what is undefined"));
  EXPECT_THAT(error("{{ raise_exception('No users!') }}"),
              HasSubstr("it refuses this conversation: No users!"));
  EXPECT_THAT(error("{% if true %}"), HasSubstr("ends too early"));
  EXPECT_THAT(error(""), HasSubstr("the model's files have none"));
  EXPECT_THAT(error(""), HasSubstr("chatml, gemma, llama2, llama3, mistral, phi3, vicuna, zephyr"));
  EXPECT_THAT(ErrorMessage([&] { RenderChat(kPlain, {}, true); }), HasSubstr("has no messages"));
}

TEST(ChatTemplate, KnowsFamiliesByName) {
  const ChatTokens tokens{"<s>", "</s>"};
  const auto render = [&](const char* family) {
    return RenderChat(ChatFamilyTemplate(family), {{"user", "hi"}}, true, tokens);
  };
  EXPECT_EQ(render("chatml"), "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(render("gemma"), "<s><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(render("llama2"), "<s>[INST] hi [/INST]");
  EXPECT_EQ(render("llama3"),
            "<s><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(render("mistral"), "<s>[INST] hi [/INST]");
  EXPECT_EQ(render("phi3"), "<|user|>\nhi<|end|>\n<|assistant|>\n");
  EXPECT_EQ(render("vicuna"),
            "<s>A chat between a curious user and an artificial intelligence assistant. The "
            "assistant gives helpful, detailed, and polite answers to the user's questions. USER: "
            "hi ASSISTANT:");
  EXPECT_EQ(render("zephyr"), "<|user|>\nhi</s>\n<|assistant|>\n");
  EXPECT_THAT(ErrorMessage([] { ChatFamilyTemplate("alpaca"); }), HasSubstr("Families: chatml,"));
}

TEST(ChatTemplate, WritesBosOnce) {
  const auto tokenizer = [](const std::string& text, bool add_bos) {
    test::GgufWriter writer = test::TinyMetadata();
    writer.Bool("tokenizer.ggml.add_bos_token", add_bos).String("tokenizer.chat_template", text);
    const test::TemporaryFile file(writer.Bytes());
    return Tokenizer{GgufFile(file.path())};
  };
  const std::string content = "{{ messages[0].content }}";
  const std::string writes = "{{ bos_token }}" + content;
  EXPECT_EQ(RenderChat(tokenizer(content, false), {{"user", "hi"}}, true), "hi");
  EXPECT_EQ(RenderChat(tokenizer(content, true), {{"user", "hi"}}, true), "<|end|>hi");
  EXPECT_EQ(RenderChat(tokenizer(writes, false), {{"user", "hi"}}, true), "<|end|>hi");
  EXPECT_EQ(RenderChat(tokenizer(writes, true), {{"user", "hi"}}, true), "<|end|>hi");
}

}  // namespace
}  // namespace midscope
