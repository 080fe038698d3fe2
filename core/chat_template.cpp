// SPDX-License-Identifier: MIT
#include "core/chat_template.h"

#include "core/chat_families.h"
#include "core/error.h"
#include "core/jinja.h"
#include "core/tokenizer.h"
#include "core/utf8.h"

namespace midscope {
namespace {

std::string FamilyNames() {
  std::string names;
  for (const ChatFamily& family : kChatFamilies)
    names += (names.empty() ? "" : ", ") + std::string(family.name);
  return names;
}

}  // namespace

std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatTokens& tokens) {
  if (template_text.empty()) {
    throw Failure("chat template", "the model's files have none",
                  "Give the prompt as plain text, or the template of a family: " + FamilyNames());
  }
  CheckUtf8("chat template", template_text);
  if (messages.empty()) throw UsageError("conversation", "has no messages", "Give at least one");
  jinja::Value variables = {{"add_generation_prompt", add_generation_prompt},
                            {"tools", nullptr},
                            {"documents", nullptr},
                            {"messages", jinja::Value::array()}};
  for (const ChatMessage& message : messages) {
    CheckUtf8("message", message.content);
    variables["messages"].push_back({{"role", message.role}, {"content", message.content}});
  }
  if (!tokens.bos.empty()) variables["bos_token"] = tokens.bos;
  if (!tokens.eos.empty()) variables["eos_token"] = tokens.eos;
  return jinja::Render(*jinja::Parse(template_text), std::move(variables));
}

std::string RenderChat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt) {
  ChatTokens tokens;
  if (tokenizer.bos_id()) tokens.bos = tokenizer.TokenText(*tokenizer.bos_id());
  if (tokenizer.eos_id()) tokens.eos = tokenizer.TokenText(*tokenizer.eos_id());
  std::string text = RenderChat(tokenizer.chat_template(), messages, add_generation_prompt, tokens);
  if (tokenizer.add_bos() && !tokens.bos.empty() && !text.starts_with(tokens.bos))
    text.insert(0, tokens.bos);
  return text;
}

std::string_view ChatFamilyTemplate(std::string_view name) {
  for (const ChatFamily& family : kChatFamilies) {
    if (family.name == name) return family.text;
  }
  throw UsageError("chat template " + Quote(name), "no such family", "Families: " + FamilyNames());
}

}  // namespace midscope
