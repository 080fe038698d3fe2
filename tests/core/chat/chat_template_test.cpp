// SPDX-License-Identifier: MIT
#include "core/chat/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/formats/gguf_file.h"
#include "core/model/model_source.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/paths.h"

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

// The output of transformers for seeded conversations (chat_golden.jsonl, written by
// compare_chat_template.py) with the templates of every family; null: it refuses.
TEST(ChatTemplate, RendersEveryFamilyAsTransformers) {
  std::ifstream file(MIDSCOPE_TESTS
                     "/core/golden"
                     "/chat_golden.jsonl");
  int lines = 0;
  std::string text;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto golden = nlohmann::ordered_json::parse(line);
    // Null: as in the line before.
    if (golden["template"].is_string()) text = golden["template"];
    std::vector<ChatMessage> messages;
    for (const auto& message : golden["messages"])
      messages.push_back({message["role"], message["content"]});
    const auto render = [&] {
      return RenderChat(text, messages, golden["add_generation_prompt"],
                        {golden["bos"], golden["eos"]},
                        {golden["variables"].dump(), golden["date"]});
    };
    if (golden["text"].is_null()) {
      EXPECT_NE(ErrorMessage([&] { render(); }), "") << golden["name"];
    } else {
      EXPECT_EQ(render(), golden["text"].get<std::string>()) << golden["name"];
    }
  }
  EXPECT_EQ(lines, 120);
}

TEST(ChatTemplate, RefusesWhatItCannotRender) {
  const auto error = [](const std::string& text) {
    return ErrorMessage([&] { RenderChat(text, {{"user", "hi"}}, true); });
  };
  EXPECT_THAT(error("{{ messages | shuffle }}"), HasSubstr("line 1: the filter 'shuffle'"));
  EXPECT_THAT(error("\n{{ messages is heavy }}"), HasSubstr("line 2: the test 'heavy'"));
  EXPECT_THAT(error("{{ strftime_now('%s') }}"), HasSubstr("strftime_now with '%s'"));
  EXPECT_THAT(error("{% include 'x' %}"), HasSubstr("'include' is not supported"));
  EXPECT_THAT(error("{{ 'a' + 1 }}"), HasSubstr("not a number"));
  EXPECT_THAT(error("{{ nothing.at.all }}"), HasSubstr("what is undefined"));
  EXPECT_THAT(error("{{ raise_exception('No users!') }}"),
              HasSubstr("it refuses this conversation: No users!"));
  EXPECT_THAT(error("{% if true %}"), HasSubstr("ends too early"));
  EXPECT_THAT(error(""), HasSubstr("the model's files have none"));
  EXPECT_THAT(error(""), HasSubstr("chatml, gemma, llama2, llama3, mistral, phi3, vicuna, zephyr"));
  EXPECT_THAT(ErrorMessage([&] { RenderChat(kPlain, {}, true); }), HasSubstr("has no messages"));
}

// The keyword arguments of apply_chat_template.
TEST(ChatTemplate, TakesFurtherVariables) {
  const auto value = [](const char* key_value) {
    ChatOptions options;
    AddChatOption(key_value, &options);
    return options.variables_json;
  };
  EXPECT_EQ(value("enable_thinking=false"), R"({"enable_thinking":false})");
  EXPECT_EQ(value("enable_thinking=False"), R"({"enable_thinking":false})");
  EXPECT_EQ(value("tools=None"), R"({"tools":null})");
  EXPECT_EQ(value("n=12"), R"({"n":12})");
  EXPECT_EQ(value("n=\"12\""), R"({"n":"12"})");
  EXPECT_EQ(value("effort=high"), R"({"effort":"high"})");
  EXPECT_EQ(value("text=a=b"), R"({"text":"a=b"})");
  EXPECT_EQ(value("text="), R"({"text":""})");
  EXPECT_EQ(value("tools=[{\"name\": \"f\"}]"), R"({"tools":[{"name":"f"}]})");
  ChatOptions options;
  AddChatOption("b=1", &options);
  AddChatOption("a=2", &options);
  AddChatOption("b=3", &options);
  EXPECT_EQ(options.variables_json, R"({"b":3,"a":2})");

  const std::string text =
      "{% if think is false %}no{% endif %}{{ effort }}{{ bos_token }}{{ tools is none }}";
  EXPECT_EQ(RenderChat(text, {{"user", "hi"}}, true, {"<s>", ""}), "<s>True");
  options = {};
  for (const char* given : {"think=false", "effort=low", "bos_token=<b>", "tools=[1]"})
    AddChatOption(given, &options);
  EXPECT_EQ(RenderChat(text, {{"user", "hi"}}, true, {"<s>", ""}, options), "nolow<b>False");
}

TEST(ChatTemplate, RefusesVariablesThatAreNone) {
  const auto error = [](std::string_view key_value) {
    ChatOptions options;
    return ErrorMessage([&] { AddChatOption(key_value, &options); });
  };
  EXPECT_THAT(error("thinking"),
              HasSubstr("chat option 'thinking': has no value. Write KEY=VALUE"));
  EXPECT_THAT(error("=1"), HasSubstr("its key is not a name"));
  EXPECT_THAT(error("a b=1"), HasSubstr("its key is not a name"));
  EXPECT_THAT(error("messages=[]"), HasSubstr("gets this variable from the prompt"));
  EXPECT_THAT(error("a=\xff"), HasSubstr("not UTF-8 at byte 2"));
  ChatOptions damaged;
  damaged.variables_json = "[1]";
  EXPECT_THAT(ErrorMessage([&] { AddChatOption("a=1", &damaged); }),
              HasSubstr("must be a JSON object"));
  EXPECT_THAT(ErrorMessage([&] {
                RenderChat(kPlain, {{"user", "hi"}}, true, {}, damaged);
              }),
              HasSubstr("must be a JSON object"));
}

TEST(ChatTemplate, WritesTheDateItIsGiven) {
  const auto render = [](const std::string& text, const std::string& date) {
    ChatOptions options;
    options.date = date;
    return RenderChat(text, {{"user", "hi"}}, true, {}, options);
  };
  const std::string format =
      "{{ strftime_now('%A %a %d %-d %B %b %Y %y %m %j %H:%M:%S %p %% %F') }}";
  // As date(2023, 2, 5).strftime(...) of Python.
  EXPECT_EQ(render(format, "2023-02-05"),
            "Sunday Sun 05 5 February Feb 2023 23 02 036 00:00:00 AM % 2023-02-05");
  EXPECT_EQ(RenderChat("{{ strftime_now('%d %b %Y') }}", {{"user", "hi"}}, true), "26 Jul 2024");
  EXPECT_EQ(render("{{ strftime_now is defined }}", "2024-02-29"), "True");
  for (const char* none : {"2023-02-29", "2023-13-01", "2023-00-10", "23-1-1", "today", "",
                           "2023-02-05 ", "1899-12-31", "2023--1-05"})
    EXPECT_THAT(ErrorMessage([&] { render("x", none); }),
                HasSubstr("must be a date, written YYYY-MM-DD"))
        << none;
}

// As Seed-OSS looks its budgets up.
TEST(ChatTemplate, TakesNumbersAsKeys) {
  const auto render = [](const std::string& text) {
    return RenderChat(text, {{"user", "hi"}}, true);
  };
  const std::string table = "{% set t = {16: 'c', 0: 'a', 512: 'd'} %}";
  EXPECT_EQ(render(table + "{% for k, v in t | dictsort %}{{ k + 1 }}{{ v }} {% endfor %}"),
            "1a 17c 513d ");
  EXPECT_EQ(render(table + "{{ t[512] }}{{ t[1] is defined }}{{ 16 in t }}{{ '16' in t }}"),
            "dFalseTrueFalse");
  EXPECT_EQ(render("{% for k, v in {'b': 1, 'A': 2} | dictsort %}{{ k }}{% endfor %}"), "Ab");
  EXPECT_EQ(render("{{ range(5, 0, -2) | list }} {{ range(0, 5, 3) | list }}"), "[5, 3, 1] [0, 3]");
  const auto error = [&](const std::string& text) { return ErrorMessage([&] { render(text); }); };
  EXPECT_THAT(error("{{ {1: 2, 'a': 3} }}"), HasSubstr("texts and numbers as keys"));
  EXPECT_THAT(error("{{ {1: 2} }}"), HasSubstr("the text of a mapping of numbers"));
  EXPECT_THAT(error("{{ range(0, 5, 0) }}"), HasSubstr("step 0"));
  EXPECT_THAT(error("{{ range(0, 5, -900000) }}"), HasSubstr("numbers in range()"));
}

TEST(ChatTemplate, ReadsTemplatesOutOfFiles) {
  const test::TemporaryFile file("{{ messages[0].content }}!\n");
  EXPECT_EQ(ReadChatTemplate(file.path()), "{{ messages[0].content }}!\n");
  EXPECT_EQ(FindChatTemplate(file.path().string()), "{{ messages[0].content }}!\n");
  EXPECT_EQ(FindChatTemplate("vicuna"), ChatFamilyTemplate("vicuna"));
  const auto error = [](const std::string& bytes) {
    const test::TemporaryFile bad(bytes);
    std::string message = ErrorMessage([&] { ReadChatTemplate(bad.path()); });
    EXPECT_THAT(message, HasSubstr(bad.path().string()));
    return message;
  };
  EXPECT_THAT(error("a\xff"), HasSubstr("not UTF-8 at byte 1"));
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error(std::string((1 << 20) + 1, ' ')), HasSubstr("longer than 1 MiB"));
  EXPECT_THAT(ErrorMessage([] { ReadChatTemplate("/"); }), HasSubstr("is not a file"));
  EXPECT_THAT(ErrorMessage([] { FindChatTemplate("alpaca"); }), HasSubstr("Families: chatml,"));
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
