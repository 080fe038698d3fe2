// SPDX-License-Identifier: MIT
#include "probes/tuning/conversations.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/spans.h"
#include "core/chat/chat_template.h"

namespace midscope {
namespace {

constexpr const char* kAssistant = "assistant";

std::string RoleOf(const JsonFields& turn, const std::string& name) {
  static const std::map<std::string_view, const char*> roles = {
      {"human", "user"},       {"user", "user"},         {"gpt", kAssistant},
      {"chatgpt", kAssistant}, {kAssistant, kAssistant}, {"system", "system"},
  };
  const auto found = roles.find(name);
  if (found == roles.end()) turn.Fail("has a turn of the unknown role " + Quote(name));
  return found->second;
}

std::vector<ChatMessage> MessagesOf(const JsonFields& line) {
  const bool is_share_gpt = line.Find("conversations") != nullptr;
  const nlohmann::json& turns = line.Need(is_share_gpt ? "conversations" : "messages");
  if (!turns.is_array()) line.Fail("must have a list of turns");
  std::vector<ChatMessage> messages;
  bool has_user = false;
  for (const nlohmann::json& item : turns) {
    const JsonFields turn(item, line.thing(), "turn");
    const std::string role = RoleOf(turn, turn.Text(is_share_gpt ? "from" : "role"));
    has_user = has_user || role == "user";
    if (role == kAssistant && !has_user) continue;
    messages.push_back({role, turn.Text(is_share_gpt ? "value" : "content")});
  }
  if (!has_user) line.Fail("must have a turn of the user");
  return messages;
}

std::string Rendered(const std::vector<ChatMessage>& messages, bool generation,
                     const ConversationFormat& format, const Tokenizer& tokenizer) {
  return format.template_text.empty()
             ? RenderChat(tokenizer, messages, generation)
             : RenderChat(format.template_text, messages, generation, ChatTokensOf(tokenizer));
}

// Returns the bytes [begin, end) of the assistant's turns in `text`, the whole conversation.
std::vector<std::pair<size_t, size_t>> AssistantTurns(const std::vector<ChatMessage>& messages,
                                                      const std::string& text,
                                                      const JsonFields& line,
                                                      const ConversationFormat& format,
                                                      const Tokenizer& tokenizer) {
  std::vector<std::pair<size_t, size_t>> turns;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != kAssistant) continue;
    const std::vector<ChatMessage> before(messages.begin(),
                                          messages.begin() + static_cast<ptrdiff_t>(i));
    std::vector<ChatMessage> with = before;
    with.push_back(messages[i]);
    const std::string begin = Rendered(before, true, format, tokenizer);
    const std::string end = Rendered(with, false, format, tokenizer);
    if (!text.starts_with(begin) || !text.starts_with(end))
      line.Fail("cannot be split into turns: the chat template changes earlier text");
    turns.emplace_back(begin.size(), end.size());
  }
  return turns;
}

}  // namespace

TuningDocument ConversationDocument(const JsonFields& line, const ConversationFormat& format,
                                    const Tokenizer& tokenizer) {
  const std::vector<ChatMessage> messages = MessagesOf(line);
  const std::string text = Rendered(messages, false, format, tokenizer);
  TuningDocument document;
  if (tokenizer.add_bos() && WrittenBegin(tokenizer, text).empty())
    document.ids = tokenizer.begin_ids();
  document.in_loss.assign(document.ids.size(), 0);
  const auto turns = format.mask_user ? AssistantTurns(messages, text, line, format, tokenizer)
                                      : std::vector<std::pair<size_t, size_t>>{{0, text.size()}};
  for (const Token& token : tokenizer.Encode(text)) {
    const auto begin = static_cast<size_t>(token.byte_begin);
    document.ids.push_back(token.id);
    document.in_loss.push_back(
        std::any_of(turns.begin(), turns.end(), [&](const std::pair<size_t, size_t>& turn) {
          return begin >= turn.first && begin < turn.second;
        }));
  }
  return document;
}

}  // namespace midscope
