// SPDX-License-Identifier: MIT
// How a text is sent to a model: plain or in a chat template, and with which begin-of-text token
// (BOS).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/options.h"
#include "core/chat/chat_options.h"

namespace midscope {

class Tokenizer;

// Whether the model's begin-of-text token comes first.
enum class BosRule {
  // As the model's own tokenizer: before plain text where its files require one; in a chat template
  // what the template writes, as apply_chat_template of transformers.
  kAuto,
  // Only where the chat template writes it, or, with the model's own template, where its files
  // require one; never before plain text.
  kTemplate,
  kOn,   // one: added where the chat template does not write it
  kOff,  // none: removed where the chat template writes it
};

// "auto", "template", "on", "off". Parsing throws Error (usage).
std::string BosRuleName(BosRule rule);
BosRule ParseBosRule(std::string_view name);

// A value; equal formats make equal prompts of equal texts.
//
//   PromptFormat format;
//   format.chat_template = "model";
//   format.system = "Answer in one word.";
//   Prompt prompt = OwnPrompt(tokenizer, {.text = "Which river?"}, format);   // task_prompt.h
struct PromptFormat {
  // "": plain text; "model": as a user's message in the model's own chat template; else the name of
  // a family (FindChatTemplate), or of the file that template_text was read from.
  std::string chat_template = {};
  std::string template_text = {};  // of a file: the template's text
  std::string system = {};         // the chat's system message; "": none, or the task's own
  ChatOptions chat_options = {};
  BosRule bos = BosRule::kAuto;

  bool is_chat() const { return !chat_template.empty(); }
  bool operator==(const PromptFormat&) const = default;
};

// Sets chat_template, and template_text if it names a file. Throws Error (usage) if it is not
// "model", a family, or a readable file.
void SetChatTemplate(const std::string& name_or_file, PromptFormat* format);

// Throws Error if no prompt of this format can be made for the model: it has no chat template of
// its own, or no BOS. Called before anything runs.
void CheckPromptFormat(const Tokenizer& tokenizer, const PromptFormat& format);

// Adds what differs from PromptFormat() to a JSON object: chat_template, chat_template_text,
// chat_options, chat_date, system, bos.
void AddPromptFormat(const PromptFormat& format, nlohmann::ordered_json* json);
// The keys' names.
const std::vector<std::string>& PromptFormatKeys();
// Reads those keys. Absent keys have the values of PromptFormat(). Throws Error (usage) for an
// invalid value, nlohmann's for another type.
PromptFormat ReadPromptFormat(const nlohmann::json& json);

// Options of the prompt format (probes/prompt/prompt_format.h), for command lines and forms.

// chat, chat-template, chat-option, chat-date, system, bos.
std::vector<Parameter> PromptFormatOptions();

// Reads the file that --chat-template names. Throws Error (usage): an invalid template, a chat
// option without --chat.
PromptFormat ReadPromptFormat(const OptionSet& options);

// The options that parse to this format; options at their defaults are not set.
OptionSet OptionsOf(const PromptFormat& format);

}  // namespace midscope
