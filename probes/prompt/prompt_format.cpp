// SPDX-License-Identifier: MIT
#include "probes/prompt/prompt_format.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/chat/chat_template.h"
#include "core/tokenizer/tokenizer.h"
#include "kernels/check.h"

namespace midscope {

namespace {

constexpr std::array<std::pair<BosRule, const char*>, 4> kBosRules = {{
    {BosRule::kAuto, "auto"},
    {BosRule::kTemplate, "template"},
    {BosRule::kOn, "on"},
    {BosRule::kOff, "off"},
}};

constexpr const char* kModelTemplate = "model";

}  // namespace

std::string BosRuleName(BosRule rule) {
  for (const auto& [known, name] : kBosRules) {
    if (known == rule) return name;
  }
  MIDSCOPE_BUG("a BOS rule without a name");
}

BosRule ParseBosRule(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [rule, known] : kBosRules) {
    if (name == known) return rule;
    names.emplace_back(known);
  }
  throw UsageError("bos " + Quote(name), "the rule is unknown",
                   KnownWordsHint(std::string(name), names));
}

void SetChatTemplate(const std::string& name_or_file, PromptFormat* format) {
  format->chat_template = name_or_file;
  format->template_text.clear();
  if (name_or_file == kModelTemplate) return;
  std::string text = FindChatTemplate(name_or_file);
  // Stores the text of a template file, because the file may change or be deleted; templates of
  // model families are part of the program.
  if (!IsChatFamily(name_or_file)) format->template_text = std::move(text);
}

void CheckPromptFormat(const Tokenizer& tokenizer, const PromptFormat& format) {
  CheckChatDate(format.chat_options.date);
  CheckUtf8("system message", format.system);
  if (format.bos == BosRule::kOn && tokenizer.begin_ids().empty()) {
    throw UsageError("option --bos", "this model has no begin-of-text token", "Leave --bos out");
  }
  if (format.chat_template == kModelTemplate && tokenizer.chat_template().empty()) {
    throw UsageError("chat template", "the model's files have none",
                     "Leave --chat out, or give --chat-template a family or a file");
  }
}

const std::vector<std::string>& PromptFormatKeys() {
  static const std::vector<std::string> keys = {
      "chat_template", "chat_template_text", "chat_options", "chat_date", "system", "bos"};
  return keys;
}

void AddPromptFormat(const PromptFormat& format, nlohmann::ordered_json* json) {
  const ChatOptions plain;
  if (format.is_chat()) (*json)["chat_template"] = format.chat_template;
  if (!format.template_text.empty()) (*json)["chat_template_text"] = format.template_text;
  if (format.chat_options.variables_json != plain.variables_json)
    (*json)["chat_options"] = nlohmann::ordered_json::parse(format.chat_options.variables_json);
  if (format.chat_options.date != plain.date) (*json)["chat_date"] = format.chat_options.date;
  if (!format.system.empty()) (*json)["system"] = format.system;
  if (format.bos != BosRule::kAuto) (*json)["bos"] = BosRuleName(format.bos);
}

PromptFormat ReadPromptFormat(const nlohmann::json& json) {
  PromptFormat format;
  format.chat_template = json.value("chat_template", "");
  format.template_text = json.value("chat_template_text", "");
  format.system = json.value("system", "");
  if (json.contains("chat_options")) {
    format.chat_options.variables_json = json.at("chat_options").dump();
  }
  format.chat_options.date = json.value("chat_date", format.chat_options.date);
  if (json.contains("bos")) format.bos = ParseBosRule(json.at("bos").get<std::string>());
  return format;
}

std::vector<Parameter> PromptFormatOptions() {
  Parameter chat_template = TextParameter(
      "chat-template",
      "the template of --chat: model (its own), a family such as vicuna or llama2, or a "
      "file with one");
  chat_template.default_value = std::string("model");
  Parameter date = TextParameter(
      "chat-date", "with --chat: the day that templates write as today's, YYYY-MM-DD");
  date.default_value = std::string(kChatDate);
  Parameter bos = ChoiceParameter(
      "bos",
      "the model's begin-of-text token in front: auto is what its own tokenizer does (with --chat: "
      "what the template writes), template only what a chat template writes; --bos alone is on",
      {"auto", "on", "off", "template"});
  bos.value_if_bare = "on";
  return InGroup(
      "Chat template and begin of text",
      {FlagParameter("chat",
                     "put the prompt to the model as a user's message, by a chat template (not the "
                     "prompts of tasks that are published without)"),
       chat_template,
       TextListParameter("chat-option",
                         "with --chat: KEY=VALUE, a variable of the template such as "
                         "enable_thinking=false; may be given more than once"),
       date, TextParameter("system", "with --chat: a system message before the user's"), bos});
}

PromptFormat ReadPromptFormat(const OptionSet& options) {
  PromptFormat format;
  format.bos = ParseBosRule(options.Text("bos"));
  if (!options.Flag("chat")) {
    for (const char* name : {"chat-template", "chat-option", "chat-date", "system"}) {
      if (!options.IsSet(name)) continue;
      throw UsageError(std::string("option --") + name, "it has no effect without --chat",
                       "Give --chat too, or leave it out");
    }
    return format;
  }
  SetChatTemplate(options.Text("chat-template"), &format);
  for (const std::string& option : options.TextList("chat-option"))
    AddChatOption(option, &format.chat_options);
  format.chat_options.date = options.Text("chat-date");
  CheckChatDate(format.chat_options.date);
  format.system = options.Text("system");
  CheckUtf8("option --system", format.system);
  return format;
}

OptionSet OptionsOf(const PromptFormat& format) {
  OptionSet options(PromptFormatOptions());
  const PromptFormat plain;
  if (format.bos != plain.bos) options.Set("bos", BosRuleName(format.bos));
  if (!format.is_chat()) return options;
  options.Set("chat", true);
  if (format.chat_template != options.Text("chat-template"))
    options.Set("chat-template", format.chat_template);
  if (format.chat_options.date != plain.chat_options.date)
    options.Set("chat-date", format.chat_options.date);
  if (!format.system.empty()) options.Set("system", format.system);
  const auto variables = nlohmann::ordered_json::parse(format.chat_options.variables_json);
  for (const auto& [key, value] : variables.items())
    options.SetText("chat-option", key + "=" + value.dump());
  return options;
}

}  // namespace midscope
