// SPDX-License-Identifier: MIT
// What a chat template is given beside the messages: further variables, as the keyword arguments of
// apply_chat_template in transformers, and the date.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// The date that templates write where they ask for today's, unless another one is given: a fixed
// one, so that the same messages give the same text on every day. It is the one that Llama 3.2's
// template falls back to where it has no clock.
inline constexpr std::string_view kChatDate = "2024-07-26";

// Copied and compared freely; every text in it is checked again where a template is rendered.
struct ChatOptions {
  // JSON object of variables in the order given, such as {"enable_thinking":false}. A variable here
  // takes the place of tools, documents, bos_token or eos_token (by default: none, none, the
  // tokenizer's).
  std::string variables_json = "{}";
  // YYYY-MM-DD, 1900 to 9999; what strftime_now(...) writes, at midnight.
  std::string date = std::string(kChatDate);

  friend bool operator==(const ChatOptions&, const ChatOptions&) = default;
};

// Adds "KEY=VALUE" to the variables. VALUE is read as JSON where it is JSON (true, 12, "text",
// null, [1, 2], {"a": 1}), True, False and None as Python writes them, and is a text otherwise. A
// key that is there already gets the new value. Throws Error (usage): no "=", a KEY that is no name
// (letters, digits, underscores), one that the program sets itself (messages,
// add_generation_prompt), a text that is not UTF-8.
void AddChatOption(std::string_view key_value, ChatOptions* options);

// Throws Error (usage) where the variables are no JSON object, or lists and objects in them stand
// more than 50 deep in each other.
void CheckChatVariables(const ChatOptions& options);

// Throws Error (usage) where `date` is no day of the calendar written YYYY-MM-DD.
void CheckChatDate(std::string_view date);

// `date`, at midnight, in a format of strftime, with the names of the C locale. Throws Error: what
// CheckChatDate throws, or a directive whose result is not fixed by a date (time zones, seconds
// since 1970) or differs between systems.
std::string FormatChatDate(std::string_view date, std::string_view format);

}  // namespace midscope
