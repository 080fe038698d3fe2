// SPDX-License-Identifier: MIT
// Conversations as the text that a chat model was trained on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// The messages as text, by the model file's own template (Jinja). Templates of the ChatML family
// are recognised, with or without a default system message; this is no Jinja interpreter. Throws
// Error for any other template, and for no messages at all.
std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt);

}  // namespace midscope
