// SPDX-License-Identifier: MIT
// Formats conversations as the text format on which a chat model was trained.
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

// The values of bos_token and eos_token in templates; empty if the model has none.
struct ChatTokens {
  std::string bos;
  std::string eos;
};

// Returns the tokenizer's values.
ChatTokens ChatTokensOf(const Tokenizer& tokenizer);

// Returns the beginning of `text` that consists of the tokenizer's begin-of-text tokens
// (Tokenizer::begin_ids, or BOS alone); empty if it begins with neither.
std::string WrittenBegin(const Tokenizer& tokenizer, std::string_view text);

// Renders the messages with the given template (Jinja, see jinja.h), like apply_chat_template of
// transformers with the variables of `options` as keyword arguments. The date is that of `options`,
// never today's, so that the same messages give the same text. Throws Error for a template that
// cannot be rendered exactly or exceeds a limit (jinja_limits.h), for messages that the template
// itself refuses, and if there are no messages.
std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatTokens& tokens = {},
                       const ChatOptions& options = {});

// Like the function above, with the tokenizer's template and tokens. If the tokenizer puts tokens
// before a text and the template did not write them, they are inserted: the returned text is
// complete, and no tokens may be added.
std::string RenderChat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatOptions& options = {});

// Returns the template of a family, for models whose files have none (Vicuna's): "chatml", "gemma",
// "llama2", "llama3", "mistral", "phi3", "vicuna", "zephyr". For another name, throws Error that
// lists these.
std::string_view ChatFamilyTemplate(std::string_view family);

// Returns the families' names.
std::vector<std::string> ChatFamilies();
// Whether there is a family template of this name.
bool IsChatFamily(std::string_view name);

// Returns the template in a file (.jinja, as models ship it). Throws Error naming the file if it
// cannot be read, is larger than 1 MiB, empty, or not UTF-8.
std::string ReadChatTemplate(const std::filesystem::path& path);

// Returns the template of the family `name_or_file`, or else that of the file. Throws Error in the
// same cases as ReadChatTemplate; if there is neither, the error lists the families.
std::string FindChatTemplate(const std::string& name_or_file);

}  // namespace midscope
