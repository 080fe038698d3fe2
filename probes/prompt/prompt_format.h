// SPDX-License-Identifier: MIT
// The format in which a text is sent to a model: plain or in a chat template, with or without a
// begin-of-text token (BOS).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/options.h"
#include "core/chat/chat_template.h"

namespace midscope {

class Tokenizer;

// The rule that decides whether the prompt begins with the model's begin-of-text token (BOS).
enum class BosRule {
  // As the model's own tokenizer does: BOS before plain text if the model's files require it; in a
  // chat template, only if the template writes it, as apply_chat_template of transformers does.
  kAuto,
  // BOS only if the chat template writes it or, with the model's own template, if the model's files
  // require it; never before plain text.
  kTemplate,
  kOn,   // always: added if the chat template does not write it
  kOff,  // never: removed if the chat template writes it
};

// Convert to and from "auto", "template", "on" and "off". Parsing throws Error (usage).
std::string BosRuleName(BosRule rule);
BosRule ParseBosRule(std::string_view name);

// How a text becomes a prompt. Equal formats and texts give equal prompts.
//
//   PromptFormat format;
//   format.chat_template = "model";
//   format.system = "Answer in one word.";
//   Prompt prompt = OwnPrompt(tokenizer, {.text = "Which river?"}, format);   // task_prompt.h
struct PromptFormat {
  // "": plain text; "model": a user's message in the model's own chat template; otherwise the name
  // of a built-in template of a model family (FindChatTemplate), or of the file from which
  // template_text was read.
  std::string chat_template = {};
  std::string template_text = {};  // text of a template from a file
  std::string system = {};         // the chat's system message; "": none, or that of the task
  ChatOptions chat_options = {};
  BosRule bos = BosRule::kAuto;

  bool is_chat() const { return !chat_template.empty(); }
  bool operator==(const PromptFormat&) const = default;
};

// Sets chat_template, and template_text if the argument names a file. Throws Error (usage) if the
// argument is neither "model", nor a model family, nor a readable file.
void SetChatTemplate(const std::string& name_or_file, PromptFormat* format);

// Throws Error if the format cannot be used with the model, because the model has no chat template
// or no BOS. Call it before anything runs.
void CheckPromptFormat(const Tokenizer& tokenizer, const PromptFormat& format);

// Adds the members that differ from PromptFormat() to a JSON object: chat_template,
// chat_template_text, chat_options, chat_date, system, bos.
void AddPromptFormat(const PromptFormat& format, nlohmann::ordered_json* json);
// Returns the names of the JSON keys that AddPromptFormat writes: chat_template, ..., bos.
const std::vector<std::string>& PromptFormatKeys();
// Reads the keys that AddPromptFormat writes. Absent keys get the values of PromptFormat(). Throws
// Error (usage) for an invalid value, nlohmann::json::exception for a wrong type.
PromptFormat ReadPromptFormat(const nlohmann::json& json);

// Options of the prompt format (probes/prompt/prompt_format.h), for command lines and forms.

// Returns the options chat, chat-template, chat-option, chat-date, system and bos.
std::vector<Parameter> PromptFormatOptions();

// Reads the format from the options chat, chat-template, chat-option, chat-date, system and bos,
// and the file that --chat-template names. Throws Error (usage) for an invalid template or a chat
// option without --chat.
PromptFormat ReadPromptFormat(const OptionSet& options);

// Returns the options from which ReadPromptFormat reads `format`; options with default values are
// not set.
OptionSet OptionsOf(const PromptFormat& format);

}  // namespace midscope
