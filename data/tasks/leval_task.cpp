// SPDX-License-Identifier: MIT
// L-Eval's closed-ended tasks (An et al. 2023, arXiv 2307.11088) over L-Eval's files. Nothing moves
// in the prompt: there is one place.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "data/formats/json_lines.h"
#include "data/scorers/leval_scores.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

constexpr const char* kOneLetter =
    "Now you are given a very long document. Please follow the instruction based on this document. "
    "For multi-choice questions, there is only a sinlge correct option. Please only provide the "
    "letter corresponding to the answer (like A or B) when answering. For other questions, please "
    "directly give the concise and accurate answer. ";
constexpr const char* kSeveralLetters =
    "Now you are given a very long document. Please follow the instruction based on this document. "
    "For multi-choice questions, there could be a sinlge correct option or multiple correct "
    "options. Please only provide the letter corresponding to the answer (like A or AB) when "
    "answering. ";
constexpr const char* kMath =
    "Given several question answer pairs, you need to follow a similar format to answer the last "
    "question. Make sure the response is end with The answer is _ . ";
constexpr const char* kTopics =
    "Below is a record of our previous conversation on many different topics. You are the "
    "ASSISTANT, and I am the USER. At the beginning of each topic, the USER will say 'I would like "
    "to discuss the topic of <TOPIC>'. Memorize each <TOPIC>. At the end of the record, I will ask "
    "you to retrieve the first/second/third topic names. Now the record start. ";

struct LEvalSet {
  const char* name;
  const char* system;
  bool is_exam;  // prompt has headings for document and question, and "Answer:"
  AnswerMetric metric;
};

constexpr std::array kLEvalSets = {
    LEvalSet{"coursera", kSeveralLetters, true, AnswerMetric::kLEvalLetters},
    LEvalSet{"quality", kOneLetter, true, AnswerMetric::kLEvalLetter},
    LEvalSet{"tpo", kOneLetter, true, AnswerMetric::kLEvalLetter},
    LEvalSet{"gsm100", kMath, false, AnswerMetric::kLEvalNumber},
    LEvalSet{"topic_retrieval_longchat", kTopics, false, AnswerMetric::kLEvalLine},
};

struct LEvalQuestion {
  size_t document = 0;
  std::string text;
  std::string answer;
};

// Returns the text up to the end of word number `words`; every space ends a word.
std::string FirstWords(std::string_view text, int64_t words) {
  size_t end = 0;
  for (int64_t i = 0; i < words; ++i) {
    end = text.find(' ', i == 0 ? 0 : end + 1);
    if (end == std::string_view::npos) return std::string(text);
  }
  return std::string(text.substr(0, end));
}

class LEvalTask : public SpecTask {
 public:
  LEvalTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        set_(kLEvalSets.at(spec.Choice("dataset"))),
        tokens_(spec.Number("tokens")) {
    if (tokens_ > 0) count_ = NeedCounter(inputs.count_tokens, name_);
    ForEachJsonLine(spec.file(), [&](const JsonFields& fields) { Read(fields); });
    if (questions_.empty()) throw Failure(spec.file(), "it must contain at least one question");
  }

  std::optional<int64_t> samples() const override { return std::ssize(questions_); }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    constexpr int64_t kNewTokens = 512;
    const LEvalQuestion& asked = questions_[static_cast<size_t>(sample)];
    PromptBuilder prompt;
    prompt.Add(set_.system);
    prompt.Add("\n\n");
    if (set_.is_exam) prompt.Add("Document is as follows. ");
    prompt.AddSpan("context", Cut(documents_[asked.document]));
    prompt.Add(set_.is_exam ? " \nQuestion: " : "\n\n");
    prompt.AddSpan("question", asked.text);
    if (set_.is_exam) {
      prompt.Add(
          ".  Please directly give answer without any additonal output or explanation "
          "\nAnswer:");
    }
    TaskSample made = std::move(prompt).Sample(std::vector{asked.answer}, place, 1);
    made.generation = {kNewTokens, AnswerCut::kWhole, set_.metric};
    return made;
  }

 private:
  void Read(const JsonFields& fields) {
    const std::vector<std::string> questions = TextList(fields, "instructions");
    const std::vector<std::string> answers = TextList(fields, "outputs");
    if (questions.size() != answers.size()) {
      fields.Fail(fmt::format("has {} and {}", CountText(std::ssize(questions), "instruction"),
                              CountText(std::ssize(answers), "output")));
    }
    for (size_t i = 0; i < questions.size(); ++i) {
      std::string answer = StripText(answers[i]);
      const bool number = set_.metric == AnswerMetric::kLEvalNumber;
      if (answer.empty() || (number && LEvalNumber(answer).empty())) {
        fields.Fail(fmt::format("has an output {} that cannot be scored", i + 1));
      }
      questions_.push_back({documents_.size(), questions[i], std::move(answer)});
    }
    documents_.push_back(fields.Text("input"));
  }

  // Cuts a document that has too many tokens as the public code does: to as many words as tokens
  // are allowed, then by 250 more words until it fits.
  std::string Cut(const std::string& document) const {
    constexpr int64_t kStep = 250;
    std::string cut = document;
    if (tokens_ == 0) return cut;
    for (int64_t words = tokens_; count_(cut) > tokens_; words -= kStep) {
      cut = FirstWords(cut, std::max<int64_t>(0, words));
    }
    return cut;
  }

  const LEvalSet& set_;
  int64_t tokens_;
  TokenCounter count_;
  std::vector<std::string> documents_;
  std::vector<LEvalQuestion> questions_;
};

}  // namespace

// Fields of a line: input, instructions and outputs; each pair of instruction and output is a
// sample. Prompts and numbers of new tokens are from Baselines/llama2-chat-test.py and
// LEval_config.py (github.com/OpenLMLab/LEval), including their spelling; the system message
// precedes the text, separated by a blank line, instead of Llama's marks. `tokens` cuts the end of
// longer documents, as that code does. codeU and sci_fi are missing, because their scores need more
// than the generated text.
TaskType LEvalTaskType() {
  constexpr int64_t kMostTokens = 1 << 20;
  std::vector<std::string> names = NamesIn(kLEvalSets);
  TaskType type = {
      "leval",
      "L-Eval's closed-ended tasks over one of its files",
      {ChoiceParameter("dataset", "whose prompt and score are taken", names),
       WholeNumberParameter("tokens",
                            "longer documents lose their end (the public code: 3488 for models of "
                            "4096); 0: they stay whole",
                            0, kMostTokens, 0),
       TaskFile("a JSONL file of L-Eval (input, instructions, outputs)", true)}};
  type.make = MakeSpecTask<LEvalTask>;
  return type;
}

}  // namespace midscope
