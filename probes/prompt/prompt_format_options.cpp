// SPDX-License-Identifier: MIT
#include "probes/prompt/prompt_format_options.h"

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/base/parameter_kinds.h"
#include "core/base/utf8.h"

namespace midscope {

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
