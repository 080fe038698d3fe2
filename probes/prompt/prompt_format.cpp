// SPDX-License-Identifier: MIT
#include "probes/prompt/prompt_format.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/nearest_word.h"
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
  throw UsageError("bos " + Quote(name), "there is no such rule",
                   KnownWordsHint(std::string(name), names));
}

void SetChatTemplate(const std::string& name_or_file, PromptFormat* format) {
  format->chat_template = name_or_file;
  format->template_text.clear();
  if (name_or_file == kModelTemplate) return;
  std::string text = FindChatTemplate(name_or_file);
  // Families are part of the program; a file may change or be deleted.
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

}  // namespace midscope
