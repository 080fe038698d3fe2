// SPDX-License-Identifier: MIT
#include "core/chat/chat_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

bool IsVariableName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Returns a discarded value if the text is not JSON. Throws if it is nested too deeply to be
// copied.
Json ParseVariables(std::string_view text) {
  static constexpr int kMaxDepth = 50;
  return Json::parse(
      text,
      [](int depth, Json::parse_event_t, Json&) {
        if (depth > kMaxDepth)
          throw UsageError("chat options",
                           fmt::format("go deeper than {} lists in each other", kMaxDepth));
        return true;
      },
      false);
}

Json ReadValue(std::string_view text) {
  // Python's spelling: enable_thinking=False is not meant as a string.
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "None") return nullptr;
  Json value = ParseVariables(text);
  return value.is_discarded() ? Json(std::string(text)) : value;
}

std::optional<int> Digits(std::string_view text) {
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || text.front() == '-')
    return std::nullopt;
  return value;
}

std::chrono::year_month_day ReadDate(std::string_view date) {
  if (date.size() == 10 && date[4] == '-' && date[7] == '-') {
    const auto year = Digits(date.substr(0, 4));
    const auto month = Digits(date.substr(5, 2));
    const auto day = Digits(date.substr(8, 2));
    if (year && month && day && *year >= 1900) {
      const std::chrono::year_month_day read{std::chrono::year(*year),
                                             std::chrono::month(static_cast<unsigned>(*month)),
                                             std::chrono::day(static_cast<unsigned>(*day))};
      if (read.ok()) return read;
    }
  }
  throw UsageError("date of the chat template " + Quote(date), "must be a date, written YYYY-MM-DD",
                   "For example " + std::string(kChatDate));
}

}  // namespace

void AddChatOption(std::string_view key_value, ChatOptions* options) {
  const std::string thing = "chat option " + Quote(key_value);
  const size_t equals = key_value.find('=');
  if (equals == std::string_view::npos)
    throw UsageError(thing, "has no value", "Write KEY=VALUE, such as enable_thinking=false");
  CheckUtf8(thing, key_value);
  const std::string_view key = key_value.substr(0, equals);
  if (!IsVariableName(key))
    throw UsageError(thing, "its key is not a name of letters, digits and underscores",
                     "Write KEY=VALUE, such as enable_thinking=false");
  if (key == "messages" || key == "add_generation_prompt")
    throw UsageError(thing, "the template gets this variable from the prompt",
                     "Give other variables only");
  CheckChatVariables(*options);
  Json variables = ParseVariables(options->variables_json);
  variables[std::string(key)] = ReadValue(key_value.substr(equals + 1));
  options->variables_json = variables.dump();
}

void CheckChatVariables(const ChatOptions& options) {
  if (!ParseVariables(options.variables_json).is_object())
    throw UsageError("chat options", "they must be a JSON object", "Give them as KEY=VALUE");
}

void CheckChatDate(std::string_view date) { ReadDate(date); }

std::string FormatChatDate(std::string_view date, std::string_view format) {
  const std::chrono::year_month_day day = ReadDate(date);
  const std::chrono::sys_days days = day;
  std::tm time{};
  time.tm_year = static_cast<int>(day.year()) - 1900;
  time.tm_mon = static_cast<int>(static_cast<unsigned>(day.month())) - 1;
  time.tm_mday = static_cast<int>(static_cast<unsigned>(day.day()));
  time.tm_wday = static_cast<int>(std::chrono::weekday(days).c_encoding());
  time.tm_yday = static_cast<int>(
      (days - std::chrono::sys_days(day.year() / std::chrono::January / 1)).count());
  // The window's toolkit sets the process's locale; the text must not depend on it.
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    // "%-d" (no leading zero) is a GNU extension that templates use.
    std::string directive = "%";
    if (i + 1 < format.size() && format[i + 1] == '-') directive += format[++i];
    const char letter = ++i < format.size() ? format[i] : '\0';
    constexpr std::string_view kLetters = "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyY%";
    if (letter == '\0' || kLetters.find(letter) == std::string_view::npos)
      throw Failure("chat template", "strftime_now with " + Quote("%" + std::string(1, letter)) +
                                         " has no result that a date fixes");
    directive += letter;
    std::array<char, 64> buffer{};
    const size_t length =
        strftime_l(buffer.data(), buffer.size(), directive.c_str(), &time, c_locale);
    text.append(buffer.data(), length);
  }
  return text;
}

}  // namespace midscope
