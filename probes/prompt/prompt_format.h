// SPDX-License-Identifier: MIT
// How a text is put to a model: as it is or in a chat template, with which begin-of-text token
// (BOS).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/chat/chat_options.h"

namespace midscope {

class Tokenizer;

// Whether the model's begin-of-text token stands first.
enum class BosRule {
  // As the model's own tokenizer does: before plain text where its files ask for one; in a chat
  // template what the template writes, as apply_chat_template of transformers.
  kAuto,
  // Only where the chat template writes it, or, with the model's own template, where its files ask
  // for one; never before plain text. The rule of files that do not state one.
  kTemplate,
  kOn,   // once: added where the chat template does not write it
  kOff,  // none: taken away where the chat template writes it
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
  // "": the text as it is; "model": as a user's message in the model's own chat template; else the
  // name of a family (FindChatTemplate), or of the file that template_text was read from.
  std::string chat_template = {};
  std::string template_text = {};  // of a file: the template itself
  std::string system = {};         // the chat's system message; "": none, or the task's own
  ChatOptions chat_options = {};
  BosRule bos = BosRule::kAuto;

  bool is_chat() const { return !chat_template.empty(); }
  bool operator==(const PromptFormat&) const = default;
};

// The format with its chat template named or read from a file: sets chat_template, and
// template_text where it is a file. Throws Error (usage) where it is neither "model", nor a family,
// nor a file that can be read.
void SetChatTemplate(const std::string& name_or_file, PromptFormat* format);

// Throws Error where prompts of this format can't be made for the model at all: it has no chat
// template of its own, or no BOS. So the mistake is told before anything runs.
void CheckPromptFormat(const Tokenizer& tokenizer, const PromptFormat& format);

// kTemplate where kAuto makes the same prompts of every text (the tokenizer asks for no BOS): the
// rule that files without a stated rule have, so that they can be gone on with.
BosRule StoredBosRule(const Tokenizer& tokenizer, BosRule rule);

// Adds what differs from PromptFormat{.bos = BosRule::kTemplate} to a JSON object: chat_template,
// chat_template_text, chat_options, chat_date, system, bos.
void AddPromptFormat(const PromptFormat& format, nlohmann::ordered_json* json);
// The keys' names.
const std::vector<std::string>& PromptFormatKeys();
// Those keys. What is absent is as above; a `bos` that is true or false (sessions of version 0.1)
// reads as on or template. Throws Error (usage) for a bad value, nlohmann's for one of another
// type.
PromptFormat ReadPromptFormat(const nlohmann::json& json);

}  // namespace midscope
