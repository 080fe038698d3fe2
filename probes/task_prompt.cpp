// SPDX-License-Identifier: MIT
#include "probes/task_prompt.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/chat_template.h"
#include "core/error.h"
#include "core/nearest_word.h"
#include "core/prompt_builder.h"
#include "core/utf8.h"
#include "data/scorers/answer_text.h"
#include "probes/number_list.h"

namespace midscope {

std::unique_ptr<Task> MakeTaskFor(const Tokenizer& tokenizer, std::string_view spec,
                                  uint64_t seed) {
  return MakeTask(
      spec, seed,
      [&tokenizer](const std::string& word) { return tokenizer.SingleToken(word).has_value(); },
      [&tokenizer](std::string_view text) {
        return static_cast<int64_t>(tokenizer.EncodeIds(text).size());
      });
}

namespace {

// Where a task's text lies in the text that is put to the model.
struct FormattedText {
  std::string text;
  int64_t shift = 0;  // of every byte of the task's text
  int64_t begin = 0;  // of what was kept of the task's text: templates may trim it ...
  int64_t end = 0;    // ... and its end
  bool templated = false;
};

FormattedText InTemplate(const Tokenizer& tokenizer, const TaskSample& sample,
                         const std::string& name) {
  std::vector<ChatMessage> messages;
  if (!sample.system.empty()) messages.push_back({"system", sample.system});
  messages.push_back({"user", sample.text});
  FormattedText formatted;
  formatted.templated = true;
  if (name == "model") {
    formatted.text = RenderChat(tokenizer, messages, true);
  } else {
    const auto token = [&](std::optional<int32_t> id) {
      return id ? std::string(tokenizer.TokenText(*id)) : std::string();
    };
    formatted.text = RenderChat(ChatFamilyTemplate(name), messages, true,
                                {token(tokenizer.bos_id()), token(tokenizer.eos_id())});
  }
  const std::string kept = StripText(sample.text);
  const size_t whole = formatted.text.find(sample.text);
  const size_t stripped = formatted.text.find(kept);
  if (kept.empty() || stripped == std::string::npos ||
      formatted.text.find(kept, stripped + 1) != std::string::npos) {
    throw Failure("chat template", "it does not leave the task's text whole, once",
                  "Leave --chat out");
  }
  const bool is_whole = whole != std::string::npos;
  const auto lead = static_cast<int64_t>(sample.text.find(kept));
  formatted.shift = static_cast<int64_t>(is_whole ? whole : stripped) - (is_whole ? 0 : lead);
  formatted.begin = is_whole ? 0 : lead;
  formatted.end = is_whole ? static_cast<int64_t>(sample.text.size())
                           : lead + static_cast<int64_t>(kept.size());
  return formatted;
}

// Whether BOS is still to be put first; takes off one that the template wrote against the rule.
bool FitBos(const Tokenizer& tokenizer, BosRule rule, FormattedText& formatted) {
  if (!tokenizer.bos_id()) return rule == BosRule::kOn;  // an error, told where it is put first
  const std::string_view bos = tokenizer.TokenText(*tokenizer.bos_id());
  const bool written = formatted.templated && !bos.empty() && formatted.text.starts_with(bos);
  if (rule == BosRule::kOff && written) {
    formatted.text.erase(0, bos.size());
    formatted.shift -= static_cast<int64_t>(bos.size());
  }
  return rule == BosRule::kOn && !written;
}

// Behind a chat template the answer begins where the model's turn does.
std::string AnswerAfter(const FormattedText& formatted, const std::string& answer) {
  if (!formatted.templated) return answer;
  const size_t first = answer.find_first_not_of(' ');
  const std::string bare = first == std::string::npos ? "" : answer.substr(first);
  const char last = formatted.text.empty() ? '\n' : formatted.text.back();
  return (last == ' ' || last == '\n' ? "" : " ") + bare;
}

std::vector<SpanRequest> ShiftedSpans(const std::vector<TextSpan>& spans,
                                      const FormattedText& formatted) {
  std::vector<SpanRequest> shifted;
  shifted.reserve(spans.size());
  for (const TextSpan& span : spans) {
    const int64_t begin = std::max(span.begin, formatted.begin);
    const int64_t end = std::min(span.end, formatted.end);
    shifted.push_back({span.name, "", begin + formatted.shift, end + formatted.shift});
  }
  return shifted;
}

// Choices are compared by the one row that predicts them.
std::vector<int32_t> ChoiceIds(const Tokenizer& tokenizer, const Prompt& prompt,
                               const FormattedText& formatted,
                               const std::vector<std::string>& choices) {
  std::vector<int32_t> ids;
  ids.reserve(choices.size());
  for (const std::string& choice : choices) {
    const Prompt with_choice =
        BuildPrompt(tokenizer, prompt.text, {}, AnswerAfter(formatted, choice), false);
    if (with_choice.answer_ids.size() != 1) {
      throw Failure("choice " + Quote(choice),
                    "it is " + std::to_string(with_choice.answer_ids.size()) +
                        " tokens in this model; choices are compared by one",
                    "Use --score generation");
    }
    ids.push_back(with_choice.answer_ids.front());
  }
  return ids;
}

}  // namespace

Prompt TaskPrompt(const Tokenizer& tokenizer, const TaskSample& sample) {
  std::vector<SpanRequest> spans;
  spans.reserve(sample.spans.size());
  for (const TextSpan& span : sample.spans) {
    spans.push_back({span.name, "", span.begin, span.end});
  }
  return BuildPrompt(tokenizer, sample.text, spans, sample.answer, false);
}

TaskQuestion MakeQuestion(const Tokenizer& tokenizer, const TaskSample& sample,
                          const PromptFormat& format) {
  const bool chat = !format.chat_template.empty() && sample.chat_template;
  if (!chat && !sample.system.empty()) {
    throw UsageError("task", "its prompts have a system message, which needs a chat template",
                     "Give --chat");
  }
  FormattedText formatted{sample.text, 0, 0, static_cast<int64_t>(sample.text.size()), false};
  if (chat) formatted = InTemplate(tokenizer, sample, format.chat_template);
  const bool add_bos = FitBos(tokenizer, format.bos, formatted);
  TaskQuestion question;
  question.prompt = BuildPrompt(tokenizer, formatted.text, ShiftedSpans(sample.spans, formatted),
                                AnswerAfter(formatted, sample.answer), add_bos);
  question.choice_ids = ChoiceIds(tokenizer, question.prompt, formatted, sample.choices);
  question.sample = sample;
  question.sample.text.clear();
  question.sample.spans.clear();
  return question;
}

std::vector<TaskQuestion> TaskQuestions(const Tokenizer& tokenizer, const Task& task,
                                        const std::vector<int64_t>& places, int64_t sample,
                                        const PromptFormat& format) {
  std::vector<TaskQuestion> questions;
  questions.reserve(places.size());
  for (const int64_t place : places) {
    questions.push_back(MakeQuestion(tokenizer, task.Make(sample, place), format));
  }
  return questions;
}

std::string BosRuleName(BosRule rule) {
  return rule == BosRule::kOn ? "on" : rule == BosRule::kOff ? "off" : "template";
}

BosRule ParseBosRule(std::string_view name) {
  for (const BosRule rule : {BosRule::kAsWritten, BosRule::kOn, BosRule::kOff}) {
    if (BosRuleName(rule) == name) return rule;
  }
  throw UsageError("bos " + Quote(name), "there is no such rule",
                   KnownWordsHint(name, {"template", "on", "off"}));
}

std::vector<TaskQuestion> AnswerQuestions(std::vector<Prompt> prompts) {
  std::vector<TaskQuestion> questions;
  questions.reserve(prompts.size());
  for (Prompt& prompt : prompts) questions.push_back({std::move(prompt)});
  return questions;
}

std::vector<Prompt> TaskPrompts(const Tokenizer& tokenizer, const Task& task,
                                const std::vector<int64_t>& places, int64_t sample) {
  std::vector<Prompt> prompts;
  prompts.reserve(places.size());
  for (const int64_t place : places) {
    prompts.push_back(TaskPrompt(tokenizer, task.Make(sample, place)));
  }
  return prompts;
}

std::vector<int64_t> DefaultPlaces(int64_t pieces) {
  std::vector<int64_t> places = {1};
  for (const int64_t percent : {25, 50, 75, 100}) {
    const int64_t place = RankAtPercent(pieces, percent);
    if (place > places.back()) places.push_back(place);
  }
  return places;
}

std::vector<int64_t> ReadPlaces(std::string_view text, const Task& task) {
  const int64_t first = task.first_place();
  if (text.empty()) {
    std::vector<int64_t> places = DefaultPlaces(task.pieces());
    for (int64_t& place : places) place += first - 1;
    return places;
  }
  if (text.find('%') == std::string_view::npos) {
    return ParseNumberList("places", text, first, first + task.pieces() - 1);
  }
  std::vector<int64_t> places;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    places.push_back(ReadPlace(task, text.substr(begin, end - begin)));
    if (std::count(places.begin(), places.end(), places.back()) > 1) {
      throw UsageError("places",
                       "place " + std::to_string(places.back()) + " stands twice in " +
                           Quote(text) + ", for task " + task.name() + " has " +
                           std::to_string(task.pieces()) + " places",
                       "Give shares that lie further apart");
    }
    begin = end + 1;
  }
  return places;
}

}  // namespace midscope
