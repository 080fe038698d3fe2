// SPDX-License-Identifier: MIT
// Makes tasks for a model, with words from its vocabulary, and converts their texts to prompts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/job.h"
#include "core/base/parameter.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"
#include "data/tasks/task.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// Makes the task that `spec` describes. If the task requires answers of one token, chooses answers
// that are one token of the model. `tokenizer` must outlive the task. Throws Error (usage).
std::unique_ptr<Task> MakeTaskFor(const Tokenizer& tokenizer, std::string_view spec, uint64_t seed);

// Whether the task can be made with the model's tokenizer.
bool FitsTokenizer(const Tokenizer& tokenizer, std::string_view spec);

// Makes the prompt of a sample in a format (default: plain, with BOS if the tokenizer adds it),
// tokenised in one call. Throws in the same cases as FormatText and BuildPrompt.
Prompt TaskPrompt(const Tokenizer& tokenizer, const TaskSample& sample,
                  const PromptFormat& format = {});

// Makes the prompt of sample number `sample` of the task; numbers beyond the task's last sample
// start again at the first.
Prompt PromptOfSample(const Tokenizer& tokenizer, const Task& task, int64_t sample, int64_t place,
                      const PromptFormat& format);

// Returns the prompts of one sample of the task, with the gold piece at each of the places.
std::vector<Prompt> TaskPrompts(const Tokenizer& tokenizer, const Task& task,
                                const std::vector<int64_t>& places, int64_t sample,
                                const PromptFormat& format = {});

// Logs the task's notes, and the places at which the task cuts this sample's prompt.
void LogTaskNotes(const Task& task, const std::vector<int64_t>& places, int64_t sample,
                  const JobContext& context);

// A user's text with its passages and the answer that should follow.
struct OwnText {
  std::string text;
  std::vector<SpanRequest> spans = {};
  std::string answer = {};  // expected answer; "": nothing to score
};

// Makes the prompt of a user's own text, which becomes the user's message in a chat template. Spans
// are byte ranges of the given text. Throws in the same cases as BuildPrompt and MakeQuestion.
Prompt OwnPrompt(const Tokenizer& tokenizer, const OwnText& own, const PromptFormat& format);

// A named additional prompt from which patches take values.
struct SourceText {
  std::string name;
  OwnText own;
};

// The prompt of a task's sample at one place, and the data for scoring its answer.
struct TaskQuestion {
  Prompt prompt;
  // The sample without its text; default-constructed if only the likelihood of the prompt's answer
  // is scored.
  TaskSample sample = {};
  // Prompts of sample.choices, in their order, each with its choice as answer. If instead all
  // choices are one token after the same prompt, choice_ids has these tokens, and the logits of the
  // prompt's last row compare them.
  std::vector<Prompt> choice_prompts = {};
  std::vector<int32_t> choice_ids = {};

  bool has_choices() const { return !choice_ids.empty() || !choice_prompts.empty(); }
};

// Makes the question of a sample in a format (formatted_text.h). Tasks that are published without a
// chat template do not get one. Throws Error in the same cases as FormatText and BuildPrompt, or if
// a choice has no tokens.
TaskQuestion MakeQuestion(const Tokenizer& tokenizer, const TaskSample& sample,
                          const PromptFormat& format);

// Returns the questions of one sample of the task, with the gold piece at each of the places.
std::vector<TaskQuestion> TaskQuestions(const Tokenizer& tokenizer, const Task& task,
                                        const std::vector<int64_t>& places, int64_t sample,
                                        const PromptFormat& format = {});

// Makes questions for which only the likelihood of the prompt's answer is scored.
std::vector<TaskQuestion> AnswerQuestions(std::vector<Prompt> prompts);

// Returns the default gold places for a task of `pieces` pieces: the first, quarter, middle,
// three-quarter and last place (RankAtPercent); all places if there are at most five pieces.
std::vector<int64_t> DefaultPlaces(int64_t pieces);

// Parses the gold places that `text` lists: "all", numbers and ranges ("1,5,10-12"), or numbers and
// percentages ("0%,25%,7", ReadPlace); "": DefaultPlaces. Throws Error (usage).
std::vector<int64_t> ReadPlaces(std::string_view text, const Task& task);

// Makes the option `places`, whose value ReadPlaces parses. Its help is the text `before`, the
// description of allowed values, and the text `behind`.
Parameter PlacesOption(const std::string& before, const std::string& behind);

// Returns, for each of `places`, its relative position between the task's first and last place, 0
// to 1.
std::vector<double> PlaceShares(const std::vector<int64_t>& places, const Task& task);
// Returns the printed texts of places that ReadPlaces has read from `text`: their relative
// positions (PlaceShares), such as "26.32 %", if the task places the gold by depth or the text has
// percentages; otherwise empty, so that places are printed by rank.
std::vector<std::string> PlaceTexts(std::string_view text, const std::vector<int64_t>& places,
                                    const Task& task);

}  // namespace midscope
