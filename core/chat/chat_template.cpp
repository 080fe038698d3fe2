// SPDX-License-Identifier: MIT
#include "core/chat/chat_template.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {
namespace {

// Chat templates of families, for models whose files have none. The formats are those of the
// families' own tokenizer_config.json; vicuna: lm-sys/FastChat fastchat/conversation.py
// (vicuna_v1.1).

struct ChatFamily {
  std::string_view name;
  std::string_view text;
};

inline constexpr std::array<ChatFamily, 8> kChatFamilies = {{
    {"chatml",
     "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
     "message['content'] + '<|im_end|>\\n' }}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"},
    {"gemma",
     "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
     "{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}"
     "{{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + "
     "'\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"},
    {"llama2",
     "{% set system = messages[0]['content'] if messages[0]['role'] == 'system' else false %}"
     "{% for message in (messages[1:] if system else messages) %}"
     "{% if message['role'] == 'user' %}{% set content = message['content'] %}"
     "{% if loop.first and system %}"
     "{% set content = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + content %}{% endif %}"
     "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
     "{% else %}{{ ' ' + message['content'].strip() + ' ' + eos_token }}{% endif %}{% endfor %}"},
    {"llama3",
     "{{ bos_token }}{% for message in messages %}"
     "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + "
     "message['content'] | trim + '<|eot_id|>' }}{% endfor %}"
     "{% if add_generation_prompt %}"
     "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"},
    {"mistral",
     "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}"
     "{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
     "{{ message['content'] + eos_token }}{% else %}"
     "{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}"
     "{% endfor %}"},
    {"phi3",
     "{% for message in messages %}"
     "{{ '<|' + message['role'] + '|>\\n' + message['content'] + '<|end|>\\n' }}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"},
    {"vicuna",
     "{{ bos_token }}{% if messages[0]['role'] != 'system' %}"
     "{{ 'A chat between a curious user and an artificial intelligence assistant. The assistant "
     "gives helpful, detailed, and polite answers to the user\\'s questions. ' }}{% endif %}"
     "{% for message in messages %}"
     "{% if message['role'] == 'system' %}{{ message['content'] + ' ' }}"
     "{% elif message['role'] == 'user' %}{{ 'USER: ' + message['content'] + ' ' }}"
     "{% else %}{{ 'ASSISTANT: ' + message['content'] + eos_token }}{% endif %}{% endfor %}"
     "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"},
    {"zephyr",
     "{% for message in messages %}"
     "{{ '<|' + message['role'] + '|>\\n' + message['content'] + eos_token + '\\n' }}"
     "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"},
}};

using Json = nlohmann::ordered_json;

std::string FamilyNames() {
  std::string names;
  for (const ChatFamily& family : kChatFamilies)
    names += (names.empty() ? "" : ", ") + std::string(family.name);
  return names;
}

const ChatFamily* FindFamily(std::string_view name) {
  const auto* const found =
      std::find_if(kChatFamilies.begin(), kChatFamilies.end(),
                   [&](const ChatFamily& family) { return family.name == name; });
  return found == kChatFamilies.end() ? nullptr : found;
}

void AddVariables(const ChatOptions& options, Json* variables) {
  CheckChatVariables(options);
  const Json given = Json::parse(options.variables_json);
  for (const auto& [key, value] : given.items()) (*variables)[key] = value;
}

}  // namespace

ChatTokens ChatTokensOf(const Tokenizer& tokenizer) {
  ChatTokens tokens;
  if (tokenizer.bos_id()) tokens.bos = tokenizer.TokenText(*tokenizer.bos_id());
  if (tokenizer.eos_id()) tokens.eos = tokenizer.TokenText(*tokenizer.eos_id());
  return tokens;
}

std::string WrittenBegin(const Tokenizer& tokenizer, std::string_view text) {
  std::string begin = tokenizer.Decode(tokenizer.begin_ids());
  if (text.starts_with(begin)) return begin;
  const std::string bos = ChatTokensOf(tokenizer).bos;
  return text.starts_with(bos) ? bos : "";
}

std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatTokens& tokens,
                       const ChatOptions& options) {
  if (template_text.empty()) {
    throw Failure("chat template", "the model's files have none",
                  "Give the prompt as plain text, or the template of a family: " + FamilyNames());
  }
  CheckUtf8("chat template", template_text);
  if (messages.empty()) throw UsageError("conversation", "has no messages", "Give at least one");
  CheckChatDate(options.date);
  Json variables = {{"tools", nullptr}, {"documents", nullptr}};
  if (!tokens.bos.empty()) variables["bos_token"] = tokens.bos;
  if (!tokens.eos.empty()) variables["eos_token"] = tokens.eos;
  AddVariables(options, &variables);
  variables["add_generation_prompt"] = add_generation_prompt;
  variables["messages"] = Json::array();
  for (const ChatMessage& message : messages) {
    CheckUtf8("message", message.content);
    variables["messages"].push_back({{"role", message.role}, {"content", message.content}});
  }
  return jinja::Render(*jinja::Parse(template_text), variables, options.date);
}

std::string RenderChat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatOptions& options) {
  std::string text = RenderChat(tokenizer.chat_template(), messages, add_generation_prompt,
                                ChatTokensOf(tokenizer), options);
  if (tokenizer.add_bos() && WrittenBegin(tokenizer, text).empty())
    text.insert(0, tokenizer.Decode(tokenizer.begin_ids()));
  return text;
}

std::string_view ChatFamilyTemplate(std::string_view name) {
  if (const ChatFamily* family = FindFamily(name)) return family->text;
  throw UsageError("chat template " + Quote(name), "no such family", "Families: " + FamilyNames());
}

std::vector<std::string> ChatFamilies() { return NamesIn(kChatFamilies); }

bool IsChatFamily(std::string_view name) { return FindFamily(name) != nullptr; }

std::string ReadChatTemplate(const std::filesystem::path& path) {
  constexpr uintmax_t kMaxFile = uintmax_t{1} << 20;
  const std::string thing = "chat template " + path.string();
  if (PathExists(path) && !std::filesystem::is_regular_file(path))
    throw Failure(thing, "is not a file", "Check the path");
  std::string text = ReadWholeFile(path.string(), kMaxFile, "1 MiB");
  CheckUtf8(thing, text);
  if (text.empty()) throw Failure(thing, "is empty");
  return PlainText(text);
}

std::string FindChatTemplate(const std::string& name_or_file) {
  if (const ChatFamily* family = FindFamily(name_or_file)) return std::string(family->text);
  if (!PathExists(name_or_file))
    throw UsageError("chat template " + Quote(name_or_file), "no such family, and no such file",
                     "Families: " + FamilyNames());
  return ReadChatTemplate(name_or_file);
}

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

// Parses JSON; a discarded value if the text is not JSON. Throws Error if it is nested too deeply.
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
