// SPDX-License-Identifier: MIT
// Conversations as the text that a chat model was trained on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

class Tokenizer;

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// Texts that templates write by name; empty: the model has none.
struct ChatTokens {
  std::string bos;
  std::string eos;
};

// The messages as text, by the model file's own template (Jinja, see jinja.h). The date is never
// today's (where a template has one of its own for lack of a clock, that one stands), so that the
// same messages give the same text. Throws Error for a template that can't be rendered exactly, for
// what the template itself refuses, and for no messages at all.
std::string RenderChat(std::string_view template_text, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt, const ChatTokens& tokens = {});

// The same with the tokenizer's template and tokens. Where the tokenizer asks for BOS and the
// template did not write it, it stands first: the text is complete, and no BOS belongs before it.
std::string RenderChat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages,
                       bool add_generation_prompt);

// The template of a family, for models whose files have none (Vicuna's): "chatml", "gemma",
// "llama2", "llama3", "mistral", "phi3", "vicuna", "zephyr". Throws Error naming these.
std::string_view ChatFamilyTemplate(std::string_view family);

}  // namespace midscope
