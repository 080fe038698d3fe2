// SPDX-License-Identifier: MIT
// Tasks put before a model: their words chosen by its vocabulary, their texts turned into prompts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/prompt.h"
#include "core/tokenizer.h"
#include "data/task.h"

namespace midscope {

// The task with answers that are one token in the model (where the task asks for that). Throws
// Error (usage). The tokenizer outlives the task.
std::unique_ptr<Task> MakeTaskFor(const Tokenizer& tokenizer, std::string_view spec, uint64_t seed);

// The sample as a prompt, tokenised once and whole.
Prompt TaskPrompt(const Tokenizer& tokenizer, const TaskSample& sample);

// One sample at each of the places.
std::vector<Prompt> TaskPrompts(const Tokenizer& tokenizer, const Task& task,
                                const std::vector<int64_t>& places, int64_t sample);

// Whether the model's begin-of-text token stands first; never twice.
enum class BosRule {
  kAsWritten,  // where the chat template writes it; without a template not
  kOn,
  kOff,
};

// "template", "on", "off". Parsing throws Error (usage).
std::string BosRuleName(BosRule rule);
BosRule ParseBosRule(std::string_view name);

// How a task's text is put to the model.
struct PromptFormat {
  // "": as it is; "model": as a user's message in the model's own chat template; or the name of a
  // family (ChatFamilyTemplate).
  std::string chat_template;
  BosRule bos = BosRule::kAsWritten;
  bool operator==(const PromptFormat&) const = default;
};

// What is asked at one place, and what the answer is scored by.
struct TaskQuestion {
  Prompt prompt;
  // The sample without its text. Default-made where there is nothing but the prompt's answer.
  TaskSample sample = {};
  std::vector<int32_t> choice_ids = {};  // first tokens of sample.choices, in their order
};

// The sample's text and passages in a format. Tasks that are published without a chat template are
// left without one. After a template that ends in white space the answer has no leading space, else
// it has one. Throws Error: (usage) the sample has a system message and the format no chat
// template, (failure) a template that does not leave the text whole, choices of several tokens.
TaskQuestion MakeQuestion(const Tokenizer& tokenizer, const TaskSample& sample,
                          const PromptFormat& format);

// One sample at each of the places.
std::vector<TaskQuestion> TaskQuestions(const Tokenizer& tokenizer, const Task& task,
                                        const std::vector<int64_t>& places, int64_t sample,
                                        const PromptFormat& format = {});

// Prompts of which nothing but their answer is scored.
std::vector<TaskQuestion> AnswerQuestions(std::vector<Prompt> prompts);

// First, quarter, middle, three quarters, last; fewer where there are fewer pieces.
std::vector<int64_t> DefaultPlaces(int64_t pieces);

// `text` as a list of places of the task: numbers and ranges ("1,5,10-12"), or numbers and shares
// ("0%,25%,7", ReadPlace) where there is one; DefaultPlaces where it is empty. Throws Error
// (usage), also where two are the same place.
std::vector<int64_t> ReadPlaces(std::string_view text, const Task& task);

}  // namespace midscope
