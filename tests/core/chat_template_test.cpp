// SPDX-License-Identifier: MIT
#include "core/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/embedded_model.h"
#include "core/gguf_file.h"
#include "tests/core/error_message.h"

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

TEST(ChatTemplate, RefusesOthers) {
  const auto error = [](const std::string& text) {
    return ErrorMessage([&] { RenderChat(text, {{"user", "hi"}}, true); });
  };
  EXPECT_THAT(error("{{ bos_token }}[INST]"), HasSubstr("not supported yet (ChatML is)"));
  EXPECT_THAT(error(kPlain + std::string("{{ eos_token }}")), HasSubstr("not supported yet"));
  EXPECT_THAT(error(""), HasSubstr("the model file has none"));
  EXPECT_THAT(ErrorMessage([&] { RenderChat(kPlain, {}, true); }), HasSubstr("has no messages"));
}

}  // namespace
}  // namespace midscope
