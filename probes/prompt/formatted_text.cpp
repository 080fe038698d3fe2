// SPDX-License-Identifier: MIT
#include "probes/prompt/formatted_text.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/chat/chat_template.h"
#include "core/tokenizer/tokenizer.h"
#include "data/scorers/answer_text.h"

namespace midscope {
namespace {

// Replaces the message to find its offset in the template's output; no template contains this word
// or treats it specially.
constexpr std::string_view kStandIn = "midscopestandinforthetext";

// A part of the text that the template kept, and its offset in the template's output.
struct KeptPart {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t at = 0;
};

// Finds the offset of the message in the template's output by comparing it with the output for
// another message, so that it is exact even if the text occurs elsewhere in the template. Returns
// nullopt if the rest of the output depends on the text.
std::optional<KeptPart> FindByStandIn(const std::function<std::string(std::string_view)>& render,
                                      const std::string& text, const std::string& rendered) {
  const std::string other = render(kStandIn);
  const size_t at = other.find(kStandIn);
  if (at == std::string::npos || other.find(kStandIn, at + 1) != std::string::npos)
    return std::nullopt;
  const std::string_view before = std::string_view(other).substr(0, at);
  const std::string_view behind = std::string_view(other).substr(at + kStandIn.size());
  if (rendered.size() < before.size() + behind.size() || !rendered.starts_with(before) ||
      !rendered.ends_with(behind))
    return std::nullopt;
  const std::string middle = rendered.substr(at, rendered.size() - before.size() - behind.size());
  const auto position = static_cast<int64_t>(at);
  if (middle == text) return KeptPart{0, static_cast<int64_t>(text.size()), position};
  if (middle.empty() || middle != StripText(text)) return std::nullopt;
  const auto lead = static_cast<int64_t>(text.find(middle));
  return KeptPart{lead, lead + static_cast<int64_t>(middle.size()), position};
}

// Finds the message, with or without white space at its ends, if it occurs exactly once.
std::optional<KeptPart> FindOnce(const std::string& text, const std::string& rendered) {
  const std::string kept = StripText(text);
  const size_t stripped = rendered.find(kept);
  if (kept.empty() || stripped == std::string::npos ||
      rendered.find(kept, stripped + 1) != std::string::npos)
    return std::nullopt;
  const size_t whole = rendered.find(text);
  if (whole != std::string::npos)
    return KeptPart{0, static_cast<int64_t>(text.size()), static_cast<int64_t>(whole)};
  const auto lead = static_cast<int64_t>(text.find(kept));
  return KeptPart{lead, lead + static_cast<int64_t>(kept.size()), static_cast<int64_t>(stripped)};
}

std::string_view TemplateOf(const Tokenizer& tokenizer, const PromptFormat& format) {
  if (format.chat_template == "model") return tokenizer.chat_template();
  return format.template_text.empty() ? ChatFamilyTemplate(format.chat_template)
                                      : std::string_view(format.template_text);
}

std::string SystemMessage(const TaskSample& sample, const PromptFormat& format) {
  if (sample.system.empty()) return format.system;
  if (format.system.empty()) return sample.system;
  throw UsageError("option --system", "the task's prompts have a system message of their own",
                   "Leave --system out");
}

FormattedText InTemplate(const Tokenizer& tokenizer, const TaskSample& sample,
                         const PromptFormat& format) {
  const std::string_view chat_template = TemplateOf(tokenizer, format);
  const std::string system = SystemMessage(sample, format);
  const auto render = [&](std::string_view text) {
    std::vector<ChatMessage> messages;
    if (!system.empty()) messages.push_back({"system", system});
    messages.push_back({"user", std::string(text)});
    return RenderChat(chat_template, messages, true, ChatTokensOf(tokenizer), format.chat_options);
  };
  FormattedText formatted;
  formatted.templated = true;
  formatted.text = render(sample.text);
  if (sample.spans.empty()) return formatted;  // no offset needed
  std::optional<KeptPart> kept = FindByStandIn(render, sample.text, formatted.text);
  if (!kept) kept = FindOnce(sample.text, formatted.text);
  if (!kept) {
    throw Failure("chat template", "it does not leave the prompt's text whole, once",
                  "Leave --chat out, or the passages");
  }
  formatted.shift = kept->at - kept->begin;
  formatted.begin = kept->begin;
  formatted.end = kept->end;
  return formatted;
}

// Sets add_bos; removes a BOS that the template wrote if the format's BOS rule excludes it.
void FitBos(const Tokenizer& tokenizer, const PromptFormat& format, FormattedText& formatted) {
  const std::string begin =
      formatted.templated ? WrittenBegin(tokenizer, formatted.text) : std::string();
  const bool written = !begin.empty();
  switch (format.bos) {
    case BosRule::kAuto:
      formatted.add_bos = !formatted.templated && tokenizer.add_bos();
      return;
    case BosRule::kTemplate:
      formatted.add_bos =
          formatted.templated && format.chat_template == "model" && tokenizer.add_bos() && !written;
      return;
    case BosRule::kOn:
      formatted.add_bos = !written;
      return;
    case BosRule::kOff:
      if (!written) return;
      formatted.text.erase(0, begin.size());
      formatted.shift -= static_cast<int64_t>(begin.size());
      return;
  }
}

}  // namespace

std::vector<ByteSpan> FormattedText::Shifted(const std::vector<ByteSpan>& spans) const {
  std::vector<ByteSpan> shifted;
  shifted.reserve(spans.size());
  for (const ByteSpan& span : spans) {
    shifted.push_back(
        {span.name, std::max(span.begin, begin) + shift, std::min(span.end, end) + shift});
  }
  return shifted;
}

std::string FormattedText::AnswerAfter(const std::string& answer) const {
  if (!templated || answer.empty()) return answer;
  const size_t first = answer.find_first_not_of(' ');
  const std::string bare = first == std::string::npos ? "" : answer.substr(first);
  const char last = text.empty() ? '\n' : text.back();
  return (last == ' ' || last == '\n' ? "" : " ") + bare;
}

FormattedText FormatText(const Tokenizer& tokenizer, const TaskSample& sample,
                         const PromptFormat& format) {
  const bool chat = format.is_chat() && sample.chat_template;
  if (!chat && !sample.system.empty()) {
    throw UsageError("task", "its prompts have a system message, which needs a chat template",
                     "Give --chat");
  }
  if (!chat && !format.system.empty()) {
    throw UsageError("option --system", "this task's prompts are put without a chat template",
                     "Leave --system out");
  }
  FormattedText formatted;
  if (chat) {
    formatted = InTemplate(tokenizer, sample, format);
  } else {
    formatted.text = sample.text;
    formatted.end = static_cast<int64_t>(sample.text.size());
  }
  FitBos(tokenizer, format, formatted);
  return formatted;
}

}  // namespace midscope
