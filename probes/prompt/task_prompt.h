// SPDX-License-Identifier: MIT
// Tasks for a model: words chosen by its vocabulary, texts turned into prompts.
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

// The task with answers that are one token in the model (where the task requires that). Throws
// Error (usage). The tokenizer must outlive the task.
std::unique_ptr<Task> MakeTaskFor(const Tokenizer& tokenizer, std::string_view spec, uint64_t seed);

// Whether the model's tokenizer has what the task needs.
bool FitsTokenizer(const Tokenizer& tokenizer, std::string_view spec);

// The sample in a format (default: plain, with BOS where the tokenizer adds it), tokenised in one
// call. Throws what FormatText and BuildPrompt throw.
Prompt TaskPrompt(const Tokenizer& tokenizer, const TaskSample& sample,
                  const PromptFormat& format = {});

// As above, for the sample of that number; after the task's last one the first one follows again.
Prompt PromptOfSample(const Tokenizer& tokenizer, const Task& task, int64_t sample, int64_t place,
                      const PromptFormat& format);

// One sample at each of the places.
std::vector<Prompt> TaskPrompts(const Tokenizer& tokenizer, const Task& task,
                                const std::vector<int64_t>& places, int64_t sample,
                                const PromptFormat& format = {});

// Logs the task's notes, and which of these prompts it cuts to its number of tokens.
void LogTaskNotes(const Task& task, const std::vector<int64_t>& places, int64_t sample,
                  const JobContext& context);

// A user's text with its passages and the answer that should follow.
struct OwnText {
  std::string text;
  std::vector<SpanRequest> spans = {};
  std::string answer = {};  // "": nothing to score
};

// As TaskPrompt, for own text: in a chat template it is the user's message. Spans are bytes of the
// given text. Throws what BuildPrompt and MakeQuestion throw.
Prompt OwnPrompt(const Tokenizer& tokenizer, const OwnText& own, const PromptFormat& format);

// Another prompt that patches take values from, by its name.
struct SourceText {
  std::string name;
  OwnText own;
};

// The prompt of one place, and the data for scoring its answer.
struct TaskQuestion {
  Prompt prompt;
  // The sample without its text. Default-constructed where only the prompt's answer is scored.
  TaskSample sample = {};
  // Prompts of sample.choices, in their order, with the choice as answer, and the choices' tokens
  // where each is one token after the same prompt, whose last row then compares them.
  std::vector<Prompt> choice_prompts = {};
  std::vector<int32_t> choice_ids = {};

  bool has_choices() const { return !choice_ids.empty() || !choice_prompts.empty(); }
};

// The sample's text and passages in a format (formatted_text.h). Tasks that are published without a
// chat template do not get one. Throws Error: what FormatText and BuildPrompt throw, a choice
// without tokens.
TaskQuestion MakeQuestion(const Tokenizer& tokenizer, const TaskSample& sample,
                          const PromptFormat& format);

// One sample at each of the places.
std::vector<TaskQuestion> TaskQuestions(const Tokenizer& tokenizer, const Task& task,
                                        const std::vector<int64_t>& places, int64_t sample,
                                        const PromptFormat& format = {});

// Prompts of which only the answer is scored.
std::vector<TaskQuestion> AnswerQuestions(std::vector<Prompt> prompts);

// First, quarter, middle, three quarters, last (RankAtPercent); all of five pieces or fewer.
std::vector<int64_t> DefaultPlaces(int64_t pieces);

// Parses a list of places of the task: "all", numbers and ranges ("1,5,10-12"), or numbers and
// shares ("0%,25%,7", ReadPlace) if there is one; "": DefaultPlaces. Throws Error (usage), also for
// duplicates.
std::vector<int64_t> ReadPlaces(std::string_view text, const Task& task);

// The option `places`, a text for ReadPlaces: what it takes, between these two texts.
Parameter PlacesOption(const std::string& before, const std::string& behind);

// For each of the task's places its share of the way from the first to the last, 0 to 1.
std::vector<double> PlaceShares(const std::vector<int64_t>& places, const Task& task);
// How places that ReadPlaces read from the text are printed: by their share (PlaceShares), such as
// "26.32 %", in tasks by depth and where the text has shares; empty: by rank.
std::vector<std::string> PlaceTexts(std::string_view text, const std::vector<int64_t>& places,
                                    const Task& task);

}  // namespace midscope
