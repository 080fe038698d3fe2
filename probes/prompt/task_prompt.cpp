// SPDX-License-Identifier: MIT
#include "probes/prompt/task_prompt.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "probes/base/number_list.h"
#include "probes/prompt/formatted_text.h"

namespace midscope {

namespace {

// Decodes a part of a prompt as LongBench's code decodes its halves.
std::string DecodedPart(const Tokenizer& tokenizer, std::span<const int32_t> ids) {
  std::string text = tokenizer.DecodeText(ids);
  const bool added = tokenizer.Decode(tokenizer.EncodeIds("a")) == " a";
  return added && text.starts_with(' ') ? text.substr(1) : text;
}

TextEnds DecodedEnds(const Tokenizer& tokenizer, std::string_view text, int64_t first,
                     int64_t last) {
  const std::vector<Token> tokens = tokenizer.Encode(text);
  std::vector<int32_t> ids;
  ids.reserve(tokens.size());
  for (const Token& token : tokens) ids.push_back(token.id);
  const auto front = std::min(ids.size(), static_cast<size_t>(first));
  const auto back = std::min(ids.size(), static_cast<size_t>(last));
  const std::span<const int32_t> all(ids);
  TextEnds ends{DecodedPart(tokenizer, all.first(front)), DecodedPart(tokenizer, all.last(back))};
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i >= front && i + back < tokens.size()) continue;
    if (tokenizer.IsControl(ids[i]))
      ends.special.emplace_back(tokens[i].byte_begin, tokens[i].byte_end);
  }
  return ends;
}

}  // namespace

std::unique_ptr<Task> MakeTaskFor(const Tokenizer& tokenizer, std::string_view spec,
                                  uint64_t seed) {
  return MakeTask(
      spec, seed,
      [&tokenizer](const std::string& word) { return tokenizer.SingleToken(word).has_value(); },
      [&tokenizer](std::string_view text) {
        return static_cast<int64_t>(tokenizer.EncodeIds(text).size());
      },
      [&tokenizer](std::string_view text, int64_t first, int64_t last) {
        return DecodedEnds(tokenizer, text, first, last);
      });
}

bool FitsTokenizer(const Tokenizer& tokenizer, std::string_view spec) {
  try {
    MakeTaskFor(tokenizer, spec, 0);
    return true;
  } catch (const Error&) {
    return false;
  }
}

namespace {

Prompt PromptOf(const Tokenizer& tokenizer, const TaskSample& sample,
                const FormattedText& formatted) {
  return BuildPrompt(tokenizer, formatted.text, formatted.Shifted(sample.spans),
                     formatted.AnswerAfter(sample.answer), formatted.add_bos);
}

// Returns one prompt for each of the sample's choices, in order.
std::vector<Prompt> ChoicePrompts(const Tokenizer& tokenizer, const TaskSample& sample,
                                  const FormattedText& formatted, const PromptFormat& format) {
  std::vector<Prompt> prompts;
  prompts.reserve(sample.choices.size());
  for (const TaskChoice& choice : sample.choices) {
    TaskSample other = sample;
    FormattedText own = formatted;
    if (!choice.prompt.empty()) {
      // Passages in the common beginning of the prompts are equal; a passage at the end of the
      // question's prompt is at the end of the choice's prompt, too.
      const auto size = static_cast<int64_t>(choice.prompt.size());
      for (ByteSpan& span : other.spans) {
        const bool last = span.end == static_cast<int64_t>(sample.text.size());
        span.end = last ? size : std::min(span.end, size);
      }
      other.text = choice.prompt;
      own = FormatText(tokenizer, other, format);
    }
    prompts.push_back(BuildPrompt(tokenizer, own.text, own.Shifted(other.spans),
                                  own.AnswerAfter(choice.text), own.add_bos));
    if (prompts.back().answer_ids.empty()) {
      throw Failure("choice " + Quote(choice.text), "it has no tokens in this model");
    }
  }
  return prompts;
}

// Returns whether all choices are one token after the same prompt, so that the logits of its last
// row compare the choices.
bool AreSingleTokens(const std::vector<Prompt>& choices) {
  return std::all_of(choices.begin(), choices.end(), [&](const Prompt& choice) {
    return choice.answer_ids.size() == 1 && choice.ids == choices.front().ids;
  });
}

// Returns the results of `make` for one sample of the task with its gold piece at each place.
template <typename Make>
auto AtPlaces(const Task& task, const std::vector<int64_t>& places, int64_t sample,
              const Make& make) {
  std::vector<decltype(make(TaskSample()))> made;
  made.reserve(places.size());
  for (const int64_t place : places) made.push_back(make(task.Make(sample, place)));
  return made;
}

}  // namespace

Prompt TaskPrompt(const Tokenizer& tokenizer, const TaskSample& sample,
                  const PromptFormat& format) {
  return PromptOf(tokenizer, sample, FormatText(tokenizer, sample, format));
}

Prompt OwnPrompt(const Tokenizer& tokenizer, const OwnText& own, const PromptFormat& format) {
  CheckUtf8("prompt", own.text);
  TaskSample sample;
  sample.text = own.text;
  sample.answer = own.answer;
  for (const SpanRequest& request : own.spans)
    sample.spans.push_back(FindSpanBytes(own.text, request));
  return TaskPrompt(tokenizer, sample, format);
}

TaskQuestion MakeQuestion(const Tokenizer& tokenizer, const TaskSample& sample,
                          const PromptFormat& format) {
  const FormattedText formatted = FormatText(tokenizer, sample, format);
  TaskQuestion question;
  question.prompt = PromptOf(tokenizer, sample, formatted);
  question.choice_prompts = ChoicePrompts(tokenizer, sample, formatted, format);
  if (AreSingleTokens(question.choice_prompts)) {
    for (const Prompt& choice : question.choice_prompts)
      question.choice_ids.push_back(choice.answer_ids.front());
  }
  question.sample = sample;
  question.sample.text.clear();
  question.sample.spans.clear();
  return question;
}

std::vector<TaskQuestion> TaskQuestions(const Tokenizer& tokenizer, const Task& task,
                                        const std::vector<int64_t>& places, int64_t sample,
                                        const PromptFormat& format) {
  return AtPlaces(task, places, sample,
                  [&](const TaskSample& made) { return MakeQuestion(tokenizer, made, format); });
}

std::vector<TaskQuestion> AnswerQuestions(std::vector<Prompt> prompts) {
  std::vector<TaskQuestion> questions;
  questions.reserve(prompts.size());
  for (Prompt& prompt : prompts) questions.push_back({std::move(prompt)});
  return questions;
}

Prompt PromptOfSample(const Tokenizer& tokenizer, const Task& task, int64_t sample, int64_t place,
                      const PromptFormat& format) {
  const int64_t samples = task.samples().value_or(0);
  return TaskPrompt(tokenizer, task.Make(samples > 0 ? sample % samples : sample, place), format);
}

std::vector<Prompt> TaskPrompts(const Tokenizer& tokenizer, const Task& task,
                                const std::vector<int64_t>& places, int64_t sample,
                                const PromptFormat& format) {
  return AtPlaces(task, places, sample,
                  [&](const TaskSample& made) { return TaskPrompt(tokenizer, made, format); });
}

void LogTaskNotes(const Task& task, const std::vector<int64_t>& places, int64_t sample,
                  const JobContext& context) {
  for (const std::string& note : task.notes()) context.Log("note: " + note);
  for (const int64_t place : places) {
    const TaskSample made = task.Make(sample, place);
    if (!made.cut) return;  // the task does not cut
    if (!*made.cut) continue;
    context.Log(fmt::format("note: the prompt at place {} is cut to the task's tokens{}", place,
                            made.gold_cut ? ", and its gold piece is gone" : ""));
  }
}

std::vector<int64_t> DefaultPlaces(int64_t pieces) {
  constexpr int64_t kQuarters = 4;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < std::min(pieces, kQuarters + 1); ++i)
    places.push_back(pieces <= kQuarters ? i + 1 : RankAtPercent(pieces, i * 100 / kQuarters));
  return places;
}

Parameter PlacesOption(const std::string& before, const std::string& behind) {
  return TextParameter(
      "places", before +
                    "places of the gold piece: ranks such as 1,5,10 or 1-20, all, or shares such "
                    "as 0%,25%,100% (the depth in tasks by depth; else the nearest piece at that "
                    "share of the way from the first to the last; files state the rank); " +
                    behind);
}

std::vector<int64_t> ReadPlaces(std::string_view text, const Task& task) {
  const int64_t first = task.first_place();
  if (text.empty()) {
    std::vector<int64_t> places = DefaultPlaces(task.pieces());
    for (int64_t& place : places) place += first - 1;
    return places;
  }
  if (text == "all") {
    std::vector<int64_t> places(static_cast<size_t>(task.pieces()));
    std::iota(places.begin(), places.end(), first);
    return places;
  }
  const bool one_share = text.ends_with('%') && text.find(',') == std::string_view::npos;
  if (task.pieces() == 1 && !one_share && text != std::to_string(first))
    throw OnlyOnePlace(task, "places " + Quote(text));
  if (text.find('%') == std::string_view::npos) {
    return ParseNumberList("places", text, first, first + task.pieces() - 1,
                           ", or shares such as 50%");
  }
  std::vector<int64_t> places;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    places.push_back(ReadPlace(task, text.substr(begin, end - begin)));
    if (std::count(places.begin(), places.end(), places.back()) > 1) {
      throw UsageError("places",
                       fmt::format("place {} occurs twice in {}, for task {} has {} places",
                                   places.back(), Quote(text), task.name(), task.pieces()),
                       "Give shares that are further apart");
    }
    begin = end + 1;
  }
  return places;
}

std::vector<double> PlaceShares(const std::vector<int64_t>& places, const Task& task) {
  const auto way = static_cast<double>(std::max<int64_t>(1, task.pieces() - 1));
  std::vector<double> shares;
  shares.reserve(places.size());
  for (const int64_t place : places) {
    shares.push_back(static_cast<double>(place - task.first_place()) / way);
  }
  return shares;
}

std::vector<std::string> PlaceTexts(std::string_view text, const std::vector<int64_t>& places,
                                    const Task& task) {
  std::vector<std::string> texts;
  texts.reserve(places.size());
  const std::vector<double> shares = PlaceShares(places, task);
  if (task.by_depth()) {
    for (const double share : shares) texts.push_back(PercentText(share));
    return texts;
  }
  if (text.find('%') == std::string_view::npos) return {};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string one(text.substr(begin, end - begin));
    texts.push_back(one.ends_with('%') ? PercentText(shares[texts.size()]) : one);
    begin = end + 1;
  }
  return texts;
}

}  // namespace midscope
