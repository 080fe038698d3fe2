// SPDX-License-Identifier: MIT
#include "data/tasks/own_task.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/formats/json_lines.h"
#include "data/scorers/answer_text.h"
#include "data/tasks/prompt_text.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

constexpr const char* kTemplate = "template";
constexpr const char* kInstructionPart = "instruction";
constexpr const char* kContextPart = "context";
constexpr const char* kQuestionPart = "question";

// Returns the fields that a line may have. `id` has no effect; users may use it to identify lines.
const std::vector<std::string>& Fields() {
  static const std::vector<std::string> fields = {"context",     "gold",    "question",   "answers",
                                                  "instruction", "scorer",  "new_tokens", "classes",
                                                  "id",          "choices", "choice_rule"};
  return fields;
}

struct OwnItem {
  std::string instruction;
  std::vector<std::string> pieces;  // the gold one first, if there is one
  bool has_gold = false;
  std::string question;
  std::vector<std::string> answers;
  std::vector<std::string> classes;
  std::vector<TaskChoice> choices;  // without leading space; empty: none
  ChoiceRule choice_rule = ChoiceRule::kLikeliest;
  GenerationRule generation;
};

GenerationRule ReadRule(const JsonFields& fields) {
  constexpr int64_t kMostNewTokens = 100000;
  GenerationRule rule;
  rule.own_answers = true;
  rule.cut = AnswerCut::kStrippedFirstLine;
  rule.new_tokens = Integer(fields, "new_tokens", 1, kMostNewTokens, rule.new_tokens);
  if (const auto scorer = fields.FindText("scorer")) {
    rule.metric = ReadMetric(fields.thing(), *scorer);
  }
  return rule;
}

// Reads answers without white space at their ends, because the prompt defines the space before an
// answer.
std::vector<std::string> AnswerList(const JsonFields& fields, const std::string& key) {
  std::vector<std::string> answers = TextList(fields, key);
  for (std::string& answer : answers) {
    answer = StripText(answer);
    if (answer.empty()) fields.Fail("has an empty text among its '" + key + "'");
  }
  return answers;
}

// Reads the choices; those that are among the answers are right.
void ReadOwnChoices(const JsonFields& fields, OwnItem& item) {
  if (const auto rule = fields.FindText("choice_rule")) {
    if (!fields.Find("choices")) fields.Fail("has a choice_rule and no choices");
    item.choice_rule = ReadChoiceRule(fields.thing(), *rule);
  }
  if (!fields.Find("choices")) return;
  for (const std::string& text : AnswerList(fields, "choices")) {
    const auto answer = std::find(item.answers.begin(), item.answers.end(), text);
    item.choices.push_back({text, answer != item.answers.end()});
  }
  const auto right = [](const TaskChoice& choice) { return choice.right; };
  const std::string& first = item.answers.front();
  if (std::none_of(item.choices.begin(), item.choices.end(),
                   [&](const TaskChoice& choice) { return choice.text == first; })) {
    fields.Fail("has a first answer that is none of its choices");
  }
  if (std::all_of(item.choices.begin(), item.choices.end(), right)) {
    fields.Fail("must have at least one wrong choice");
  }
}

OwnItem ReadOwnItem(const JsonFields& fields) {
  fields.RefuseOthers(Fields());
  OwnItem item;
  item.instruction = fields.FindText("instruction").value_or("");
  if (fields.Find("context")) item.pieces = TextList(fields, "context");
  item.question = fields.Text("question");
  item.answers = AnswerList(fields, "answers");
  if (item.answers.empty()) fields.Fail("has no answers");
  if (fields.Find("classes")) item.classes = AnswerList(fields, "classes");
  ReadOwnChoices(fields, item);
  item.generation = ReadRule(fields);
  const int64_t gold = Integer(fields, "gold", 1, static_cast<int64_t>(item.pieces.size()), 0);
  item.has_gold = gold > 0;
  if (gold > 0) {
    const auto begin = item.pieces.begin();
    std::rotate(begin, begin + gold - 1, begin + gold);
  }
  return item;
}

// Adds to errors without a remedy the name of the help page that describes the fields.
OwnItem ReadWithRemedy(const JsonFields& fields) {
  try {
    return ReadOwnItem(fields);
  } catch (const Error& error) {
    if (error.problem() != error.what()) throw;
    throw Failure(fields.thing(), error.problem().substr(fields.thing().size() + 2),
                  "midscope help jsonl shows an example line");
  }
}

class OwnTask : public Task {
 public:
  explicit OwnTask(const TaskSpec& spec) : name_(TaskSpecText(spec)) {
    if (!spec.Path(kTemplate).empty()) {
      template_ =
          ReadPromptTemplate(spec.Path(kTemplate), {kInstructionPart, kContextPart, kQuestionPart},
                             {kContextPart, kQuestionPart});
    }
    ForEachJsonLine(spec.file(), [&](const JsonFields& fields) {
      items_.push_back(ReadWithRemedy(fields));
      NoteAnswers(fields.thing(), items_.back());
      const OwnItem& first = items_.front();
      const OwnItem& item = items_.back();
      if (item.has_gold != first.has_gold) {
        fields.Fail("must have a gold if and only if the first line has one");
      }
      if (item.choices.empty() != first.choices.empty() || item.choice_rule != first.choice_rule) {
        fields.Fail("must have choices, by the same rule, if and only if the first line has them");
      }
      if (item.has_gold && item.pieces.size() != first.pieces.size()) {
        fields.Fail(fmt::format("has {} of context, the first line has {}",
                                CountText(std::ssize(item.pieces), "piece"), first.pieces.size()));
      }
    });
  }

  std::string name() const override { return name_; }
  int64_t pieces() const override {
    return items_.front().has_gold ? static_cast<int64_t>(items_.front().pieces.size()) : 1;
  }
  std::optional<int64_t> samples() const override { return static_cast<int64_t>(items_.size()); }
  std::vector<std::string> notes() const override { return notes_; }
  bool scored_by_likelihood() const override { return !items_.front().choices.empty(); }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    const OwnItem& item = items_[static_cast<size_t>(sample)];
    const std::vector<std::string> pieces =
        item.has_gold ? WithFirstAt(item.pieces, place) : item.pieces;
    const int64_t gold = item.has_gold ? place : 0;
    PromptText prompt;
    if (template_.empty()) {
      AddUsualText(item, pieces, gold, prompt);
    } else {
      AddByTemplate(item, pieces, gold, prompt);
    }
    std::vector<TaskChoice> choices = item.choices;
    for (TaskChoice& choice : choices) choice.text = prompt.Continuation(choice.text);
    TaskSample made = std::move(prompt).Sample(item.answers, place, this->pieces());
    made.choices = std::move(choices);
    made.choice_rule = item.choice_rule;
    made.classes = item.classes;
    made.generation = item.generation;
    return made;
  }

 private:
  // Notes only the first such answer, because a file may have thousands of lines.
  void NoteAnswers(const std::string& thing, const OwnItem& item) {
    if (!notes_.empty()) return;
    for (const std::string& answer : item.answers) {
      if (!IsNormalisedAway(item.generation.metric, answer)) continue;
      notes_.push_back(thing + ": the scorer's normaliser leaves nothing of the answer " +
                       Quote(answer) +
                       "; such answers are compared with generated text as they are, word by word");
      return;
    }
  }

  // Adds the pieces, one per line, the last one with or without its line end. `gold`: 1-based
  // number; 0: none.
  static void AddPieces(const std::vector<std::string>& pieces, int64_t gold, bool last_line_end,
                        PromptText& prompt) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      prompt.AddSpan(fmt::format("piece {}", i + 1), pieces[i]);
      if (static_cast<int64_t>(i) + 1 == gold) prompt.NameLastSpan("gold");
      if (last_line_end || i + 1 < pieces.size()) prompt.Add("\n");
    }
  }

  static void AddUsualText(const OwnItem& item, const std::vector<std::string>& pieces,
                           int64_t gold, PromptText& prompt) {
    if (!item.instruction.empty()) prompt.Add(item.instruction + "\n\n");
    AddPieces(pieces, gold, true, prompt);
    if (!pieces.empty()) prompt.Add("\n");
    prompt.AddSpan("question", "Question: " + item.question);
    prompt.Add("\nAnswer:");
  }

  void AddByTemplate(const OwnItem& item, const std::vector<std::string>& pieces, int64_t gold,
                     PromptText& prompt) const {
    for (const TemplatePart& part : template_) {
      if (!part.is_placeholder) {
        prompt.Add(part.text);
      } else if (part.text == kInstructionPart) {
        prompt.Add(item.instruction);
      } else if (part.text == kContextPart) {
        AddPieces(pieces, gold, false, prompt);
      } else {
        prompt.AddSpan("question", item.question);
      }
    }
  }

  std::string name_;
  std::vector<TemplatePart> template_;  // empty: the default text
  std::vector<OwnItem> items_;
  std::vector<std::string> notes_;
};

}  // namespace

TaskType OwnTaskType() {
  TaskType type = {
      "jsonl",
      "your own questions, one per line (midscope help jsonl; FILE.jsonl alone means this task)",
      {FileParameter(kTemplate,
                     "a text file with {context} and {question} in it, {instruction} "
                     "where it is wanted"),
       MiddleCutParameter(false), TaskFile("a JSONL file, plain or .gz", true)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& /*inputs*/) -> std::unique_ptr<Task> {
    return std::make_unique<OwnTask>(spec);
  };
  type.cuts_middle = true;
  return type;
}

std::string OwnTaskHelp() {
  return R"(Your own questions: --task FILE.jsonl (the same as --task jsonl:file=FILE.jsonl; .gz is read too)

A line is one object, for example

  {"context": ["The mill belongs to Tom.", "The inn belongs to Ann.", "The farm belongs to Sue."],
   "gold": 2, "question": "Who owns the inn?", "answers": ["Ann"]}

(on one line of the file). With that the prompt is

  The mill belongs to Tom.
  The inn belongs to Ann.
  The farm belongs to Sue.

  Question: Who owns the inn?
  Answer:

and a sweep moves the gold piece to every place that --places names.

  context      list of texts, the pieces; may be left out
  gold         number of the piece that answers, from 1 on. Without it in all lines the pieces stay where
               they are; with it all lines have as many pieces as the first
  question     text
  answers      list of texts, all of them right. The likelihood (answer_nll, accuracy) is that of the
               first; generated text is scored against all. White space around them is left out: one
               space is between the prompt and the answer, none where the prompt ends in white space
  instruction  text that comes first, with a blank line after it
  scorer       how generated text is scored: )" +
         MetricNames() + R"( (default subspan)
  new_tokens   how many tokens are generated at most (default 100)
  classes      list of all answers there are, for the scorer that tells classes apart
  choices      list of texts of any length, the answers among them: the sweep compares their likelihood
               (choice_accuracy) and does not generate unless asked. In all lines or in none
  choice_rule  likeliest (default): the likelihood of the whole text; per-character: its logarithm divided
               by the text's characters; right-share: what share of the likelihood of all the answers have
  id           anything; not used

Other fields are refused, so that a mistyped one is not lost.

A prompt of another form: --task jsonl:template=FORM.txt,file=FILE.jsonl, where FORM.txt is the text with
{context} (the pieces, one a line) and {question} in it once each, and {instruction} where it is wanted, for
example

  Read these notes.
  {context}
  {question} Answer in one word:

A byte-order mark and one line end at the file's end are left out, CR LF is read as LF. Other words
in braces are text.
)";
}

}  // namespace midscope
