// SPDX-License-Identifier: MIT
// Conversations as the text that a chat model was trained on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/chat/chat_options.h"

namespace midscope {

class Tokenizer;

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// The texts of variables in templates; empty: the model has none.
struct ChatTokens {
  std::string bos;
  std::string eos;
};

// The tokenizer's.
ChatTokens ChatTokensOf(const Tokenizer& tokenizer);

// The begin of `text` that is the tokenizer's begin-of-text tokens (Tokenizer::begin_ids, or BOS
// alone); empty where it begins with neither.
std::string WrittenBegin(const Tokenizer& tokenizer, std::string_view text);

// Renders the messages with the given template (Jinja, see jinja.h), as apply_chat_template of
// transformers with the variables of `options` as keyword arguments. The date is that of `options`,
// never today's, so that the same messages give the same text. Throws Error for a template that
// can't be rendered exactly, that exceeds a limit (jinja_limits.h), for what the template itself
// refuses, and for no messages.
std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatTokens& tokens = {},
                       const ChatOptions& options = {});

// As above, with the tokenizer's template and tokens. Where the tokenizer puts tokens first and the
// template did not write them, they are put first: the text is complete, and none may be added.
std::string RenderChat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatOptions& options = {});

// The template of a family, for models whose files have none (Vicuna's): "chatml", "gemma",
// "llama2", "llama3", "mistral", "phi3", "vicuna", "zephyr". Throws Error naming these.
std::string_view ChatFamilyTemplate(std::string_view family);

// The families' names.
std::vector<std::string> ChatFamilies();
// Whether there is a template of a family of this name.
bool IsChatFamily(std::string_view name);

// The template in a file (.jinja, as models ship it). Throws Error naming the file: it can't be
// read, is larger than 1 MiB, empty, or not UTF-8.
std::string ReadChatTemplate(const std::filesystem::path& path);

// The template named `name_or_file`: a family's, else that of the file. Throws Error: what the two
// functions above throw; where it is neither, one that names the families.
std::string FindChatTemplate(const std::string& name_or_file);

}  // namespace midscope
