// SPDX-License-Identifier: MIT
// The inputs of a chat template in addition to the messages: variables, like the keyword arguments
// of apply_chat_template in transformers, and the date.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// The default of "today" in templates. It is fixed, so that the same messages give the same text
// every day, and is Llama 3.2's default if its template has no clock.
inline constexpr std::string_view kChatDate = "2024-07-26";

// A value type, without checks: every text in it is checked again when a template is rendered.
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

}  // namespace midscope
