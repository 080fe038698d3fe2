// SPDX-License-Identifier: MIT
// Formats conversations as the text format on which a chat model was trained.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// The default of "today" in templates. It is fixed, so that the same messages give the same text
// every day, and is Llama 3.2's default if its template has no clock.
inline constexpr std::string_view kChatDate = "2024-07-26";

// The inputs of a chat template in addition to the messages: variables, like the keyword arguments
// of apply_chat_template in transformers, and the date. A value type, without checks: every text in
// it is checked again when a template is rendered.
struct ChatOptions {
  // JSON object with variables in a given order, such as {"enable_thinking":false}. A variable here
  // replaces tools, documents, bos_token or eos_token (defaults: none, none, the tokenizer's
  // tokens).
  std::string variables_json = "{}";
  // YYYY-MM-DD, years 1900 to 9999; strftime_now(...) gives this date, at midnight.
  std::string date = std::string(kChatDate);

  friend bool operator==(const ChatOptions&, const ChatOptions&) = default;
};

// Adds "KEY=VALUE" to the variables. VALUE is parsed as JSON if possible (true, 12, "text", null,
// [1, 2], {"a": 1}); True, False and None are accepted as in Python; any other VALUE is a string.
// An existing key gets the new value. Throws Error (usage) if "=" is missing, if KEY is not a name
// (letters, digits, underscores) or is set by the program itself (messages, add_generation_prompt),
// or if the text is not UTF-8.
void AddChatOption(std::string_view key_value, ChatOptions* options);

// Throws Error (usage) if the variables are not a JSON object, or are nested more than 50 deep.
void CheckChatVariables(const ChatOptions& options);

// Throws Error (usage) if `date` is not a valid date of the form YYYY-MM-DD.
void CheckChatDate(std::string_view date);

// Formats `date`, at midnight, by a format of strftime, with the names of the C locale. Throws
// Error in the same cases as CheckChatDate, and for a directive whose result does not only depend
// on the date (time zones, seconds since 1970) or differs between systems.
std::string FormatChatDate(std::string_view date, std::string_view format);

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

// Returns the tokenizer's bos_token and eos_token.
ChatTokens ChatTokensOf(const Tokenizer& tokenizer);

// Returns the beginning of `text` that consists of the tokenizer's begin-of-text tokens
// (Tokenizer::begin_ids, or BOS alone); empty if it begins with neither.
std::string WrittenBegin(const Tokenizer& tokenizer, std::string_view text);

// Renders the messages with the given template (Jinja, see jinja.h), like apply_chat_template of
// transformers with the variables of `options` as keyword arguments. The date is the one in
// `options`, never today's, so that the same messages give the same text. Throws Error for a
// template that cannot be rendered exactly or exceeds a limit (jinja_limits.h), for messages that
// the template itself refuses, and if there are no messages.
std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatTokens& tokens = {},
                       const ChatOptions& options = {});

// Renders the messages with the tokenizer's own chat template and tokens. If the tokenizer puts
// tokens before a text and the template did not write them, they are inserted: the returned text is
// complete, and no tokens may be added.
std::string RenderChat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatOptions& options = {});

// Returns the template of a family, for models whose files have none (Vicuna's): "chatml", "gemma",
// "llama2", "llama3", "mistral", "phi3", "vicuna", "zephyr". For another name, throws Error that
// lists these.
std::string_view ChatFamilyTemplate(std::string_view family);

// Returns the names of the families that have a chat template here.
std::vector<std::string> ChatFamilies();
// Whether `name` is a family that ChatFamilyTemplate accepts.
bool IsChatFamily(std::string_view name);

// Returns the template in a file (.jinja, as models ship it). Throws Error naming the file if it
// cannot be read, is larger than 1 MiB, empty, or not UTF-8.
std::string ReadChatTemplate(const std::filesystem::path& path);

// Returns the template of the family `name_or_file`, or else the template in the file
// `name_or_file`. Throws Error in the same cases as ReadChatTemplate; if there is neither, the
// error lists the families.
std::string FindChatTemplate(const std::string& name_or_file);

}  // namespace midscope
