// SPDX-License-Identifier: MIT
#include "core/chat_template.h"

#include <optional>

#include "core/error.h"

namespace midscope {
namespace {

// The ChatML templates of Hugging Face tokenizers are written from these parts, in this order; only
// the text of the default system message differs, and whether it is there.
constexpr std::string_view kLoop = "{% for message in messages %}";
constexpr std::string_view kDefaultBegin =
    "{% if loop.first and messages[0]['role'] != 'system' %}{{ '";
constexpr std::string_view kDefaultEnd = "' }}{% endif %}";
constexpr std::string_view kMessage =
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% "
    "endfor %}";
constexpr std::string_view kGeneration =
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

struct ChatMl {
  std::string default_system;  // the whole turn; empty: none
};

// Newlines stand in templates either as themselves or as \n inside the strings.
std::string Unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool newline = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    plain += newline ? '\n' : text[i];
    if (newline) ++i;
  }
  return plain;
}

bool Skip(std::string_view part, std::string_view* text) {
  if (!text->starts_with(part)) return false;
  text->remove_prefix(part.size());
  return true;
}

std::optional<ChatMl> ParseChatMl(std::string_view text) {
  ChatMl parsed;
  if (!Skip(kLoop, &text)) return std::nullopt;
  if (Skip(kDefaultBegin, &text)) {
    const size_t end = text.find('\'');
    // A backslash in the message would be an escape that is not undone here.
    if (end == std::string_view::npos || text.substr(0, end).find('\\') != std::string_view::npos)
      return std::nullopt;
    parsed.default_system = text.substr(0, end);
    text.remove_prefix(end);
    if (!Skip(kDefaultEnd, &text)) return std::nullopt;
  }
  if (!Skip(kMessage, &text) || text != kGeneration) return std::nullopt;
  return parsed;
}

}  // namespace

std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt) {
  if (template_text.empty()) {
    throw Failure("chat template", "the model file has none", "Give the prompt as plain text");
  }
  const auto parsed = ParseChatMl(Unescape(template_text));
  if (!parsed) {
    throw Failure("chat template", "this model's template is not supported yet (ChatML is)",
                  "Write the conversation out as plain text");
  }
  if (messages.empty()) throw UsageError("conversation", "has no messages", "Give at least one");
  std::string text;
  if (messages.front().role != "system") text += parsed->default_system;
  for (const ChatMessage& message : messages) {
    text += "<|im_start|>" + message.role + "\n" + message.content + "<|im_end|>\n";
  }
  if (add_generation_prompt) text += "<|im_start|>assistant\n";
  return text;
}

}  // namespace midscope
