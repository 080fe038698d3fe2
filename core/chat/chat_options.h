// SPDX-License-Identifier: MIT
// The inputs of a chat template beside the messages: further variables, as the keyword arguments of
// apply_chat_template in transformers, and the date.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// The default of today's date in templates: fixed, so that the same messages give the same text on
// every day. It is Llama 3.2's default where its template has no clock.
inline constexpr std::string_view kChatDate = "2024-07-26";

// Copied and compared freely; every text in it is checked again where a template is rendered.
struct ChatOptions {
  // JSON object of variables in the given order, such as {"enable_thinking":false}. A variable here
  // replaces tools, documents, bos_token or eos_token (default: none, none, the tokenizer's).
  std::string variables_json = "{}";
  // YYYY-MM-DD, 1900 to 9999; the date of strftime_now(...), at midnight.
  std::string date = std::string(kChatDate);

  friend bool operator==(const ChatOptions&, const ChatOptions&) = default;
};

// Adds "KEY=VALUE" to the variables. VALUE is parsed as JSON where it is JSON (true, 12, "text",
// null, [1, 2], {"a": 1}), as True, False and None in Python's spelling, and is a text otherwise.
// An existing key gets the new value. Throws Error (usage): no "=", a KEY that is not a name
// (letters, digits, underscores), one that the program sets itself (messages,
// add_generation_prompt), a text that is not UTF-8.
void AddChatOption(std::string_view key_value, ChatOptions* options);

// Throws Error (usage) where the variables are not a JSON object, or nest more than 50 deep.
void CheckChatVariables(const ChatOptions& options);

// Throws Error (usage) where `date` is not a day of the calendar in the form YYYY-MM-DD.
void CheckChatDate(std::string_view date);

// `date`, at midnight, in a format of strftime, with the names of the C locale. Throws Error: what
// CheckChatDate throws, or a directive whose result is not fixed by a date (time zones, seconds
// since 1970) or differs between systems.
std::string FormatChatDate(std::string_view date, std::string_view format);

}  // namespace midscope
