// SPDX-License-Identifier: MIT
#include "data/tasks/own_task.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/tasks/own_lines.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

constexpr const char* kTemplate = "template";
constexpr const char* kInstructionPart = "instruction";
constexpr const char* kContextPart = "context";
constexpr const char* kQuestionPart = "question";

constexpr const char* kGold = "gold";
constexpr const char* kGoldFrom = "gold_from";
constexpr const char* kDocuments = "documents";

class OwnTask : public SpecTask {
 public:
  OwnTask(const TaskSpec& spec, const TaskInputs& /*inputs*/) : SpecTask(spec) {
    if (!spec.Path(kTemplate).empty()) {
      template_ =
          ReadPromptTemplate(spec.Path(kTemplate), {kInstructionPart, kContextPart, kQuestionPart},
                             {kContextPart, kQuestionPart});
    }
    own_ = ReadOwnLines(spec.file(), {static_cast<GoldFrom>(spec.Choice(kGoldFrom)),
                                      spec.Choice(kGold) == 1, spec.Number(kDocuments)});
  }

  int64_t pieces() const override {
    if (own_.different_lengths) return kDepthPlaces;
    return First().golds > 0 ? std::ssize(First().pieces) : 1;
  }
  bool by_depth() const override { return own_.different_lengths; }
  std::optional<int64_t> samples() const override { return std::ssize(own_.lines); }
  std::vector<std::string> notes() const override { return own_.notes; }
  bool scored_by_likelihood() const override { return !First().choices.empty(); }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    const OwnLine& line = own_.lines[static_cast<size_t>(sample)];
    const int64_t rank = GoldRank(line, place);
    PromptBuilder prompt;
    if (template_.empty()) {
      AddUsualText(line, rank, prompt);
    } else {
      AddByTemplate(line, rank, prompt);
    }
    std::vector<TaskChoice> choices = line.choices;
    for (TaskChoice& choice : choices) choice.text = prompt.Continuation(choice.text);
    TaskSample made = std::move(prompt).Sample(line.answers, place, pieces());
    made.gold_rank = rank;
    made.choices = std::move(choices);
    made.choice_rule = line.choice_rule;
    made.classes = line.classes;
    made.generation = line.generation;
    return made;
  }

 private:
  const OwnLine& First() const { return own_.lines.front(); }

  // Returns the 1-based rank of the gold piece at a place; 0 if the line has no gold piece.
  int64_t GoldRank(const OwnLine& line, int64_t place) const {
    if (line.golds == 0) return 0;
    return by_depth() ? RankAtPercent(std::ssize(line.pieces), place - 1) : place;
  }

  // Adds the pieces to the prompt, one per line; the last one ends with '\n' if `last_line_end`.
  // `rank`: 1-based rank of the gold piece; 0: none.
  static void AddPieces(const OwnLine& line, int64_t rank, bool last_line_end,
                        PromptBuilder& prompt) {
    const std::vector<std::string> pieces = rank > 0 ? WithFirstAt(line.pieces, rank) : line.pieces;
    const auto& others = line.other_golds;
    for (int64_t i = 1; i <= std::ssize(pieces); ++i) {
      prompt.AddSpan(fmt::format("piece {}", i), pieces[static_cast<size_t>(i - 1)]);
      if (i == rank) {
        prompt.NameLastSpan("gold");
      } else if (const auto other = std::find(others.begin(), others.end(), i > rank ? i - 1 : i);
                 other != others.end()) {
        prompt.NameLastSpan(fmt::format("gold {}", other - others.begin() + 2));
      }
      if (last_line_end || i < std::ssize(pieces)) prompt.Add("\n");
    }
  }

  static void AddUsualText(const OwnLine& line, int64_t rank, PromptBuilder& prompt) {
    if (!line.instruction.empty()) prompt.Add(line.instruction + "\n\n");
    AddPieces(line, rank, true, prompt);
    if (!line.pieces.empty()) prompt.Add("\n");
    prompt.AddSpan("question", "Question: " + line.question);
    prompt.Add("\nAnswer:");
  }

  void AddByTemplate(const OwnLine& line, int64_t rank, PromptBuilder& prompt) const {
    for (const TemplatePart& part : template_) {
      if (!part.is_placeholder) {
        prompt.Add(part.text);
      } else if (part.text == kInstructionPart) {
        prompt.Add(line.instruction);
      } else if (part.text == kContextPart) {
        AddPieces(line, rank, false, prompt);
      } else {
        prompt.AddSpan("question", line.question);
      }
    }
  }

  std::vector<TemplatePart> template_;  // empty: the default text
  OwnLines own_;
};

Parameter GoldParameter() {
  Parameter parameter =
      ChoiceParameter(kGold,
                      "answer: where a line states no gold document, those that contain an answer "
                      "are gold",
                      {"file", "answer"});
  parameter.always_stated = false;
  return parameter;
}

Parameter OwnDocumentsParameter() {
  constexpr int64_t kMost = 1 << 20;
  Parameter parameter = WholeNumberParameter(
      kDocuments, "the gold documents and the first others, up to so many per line; 0: all", 0,
      kMost, 0);
  parameter.always_stated = false;
  return parameter;
}

Parameter GoldFromParameter() {
  Parameter parameter = ChoiceParameter(kGoldFrom,
                                        "the number that `gold` gives to a line's first document; "
                                        "file: as the numbers show it, or as "
                                        "the file's field gold_from states it",
                                        {"file", "0", "1"});
  parameter.always_stated = false;
  return parameter;
}

}  // namespace

TaskType OwnTaskType() {
  TaskType type = {
      "jsonl",
      "your own questions with their documents, one per line (midscope help jsonl; FILE.jsonl or "
      "FILE.csv alone means this task)",
      {FileParameter(kTemplate,
                     "a text file with {context} and {question} in it, {instruction} "
                     "where it is wanted"),
       GoldParameter(), GoldFromParameter(), OwnDocumentsParameter(), MiddleCutParameter(false),
       TaskFile("a JSONL file, plain or .gz, or a .csv file", true)}};
  type.make = MakeSpecTask<OwnTask>;
  type.cuts_middle = true;
  type.samples_are_lines = true;
  return type;
}

std::string OwnTaskHelp() {
  return R"(Your own questions: --task FILE.jsonl (the same as --task jsonl:file=FILE.jsonl; .gz is read too)

A line is one object, for example

  {"documents": ["The mill belongs to Tom.", "The inn belongs to Ann.", "The farm belongs to Sue."],
   "gold": 2, "gold_from": 1, "question": "Who owns the inn?", "answers": ["Ann"]}

(on one line of the file). With that the prompt is

  The mill belongs to Tom.
  The inn belongs to Ann.
  The farm belongs to Sue.

  Question: Who owns the inn?
  Answer:

and a sweep moves the gold document to every place that --places names.

  documents    list of documents, texts or objects with a text (field )" +
         Joined(TextFieldNames()) + R"()
               and optionally a title, which is put before the text as "TITLE: ", or [title, [sentences]]
               as in HotpotQA. May be left out. Other names: context, )" +
         OtherFieldNames("context") + R"(
  gold         number of the document that answers, its text, title, or id (field id, doc_id, ...), or a
               list of these: the first one is moved, the others are the spans `gold 2`, `gold 3`. Or mark
               documents: {"text": "...", "isgold": true}. Lines without it are left out; without it in all
               lines the documents stay where they are, unless you choose jsonl:gold=answer,file=FILE
  gold_from    the number of a line's first document, 0 or 1, in the first line, or as a parameter of the
               task. It may be left out if only one of the two fits the numbers of the file, or if in
               three lines or more only by one of them the gold documents contain the answers
  question     text; or `query`
  answers      text or list of texts, or objects with a text, all of them right; or `answer`. The likelihood
               (answer_nll, accuracy) is that of the first; generated text is scored against all. White space
               around them is left out: one space is between the prompt and the answer, none where the prompt
               ends in white space. Lines with null, "" or [] here are left out
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

Only where these names are missing, others are read, in any spelling ("Gold Index"), and a note says which:

  documents    )" +
         GuessedFieldNames("context") + R"(
  gold         )" +
         GuessedFieldNames("gold") + R"(
  question     )" +
         GuessedFieldNames("question") + R"(
  answers      )" +
         GuessedFieldNames("answers") + R"(

and, where no field has all documents, fields with a part of them each, as in DPR's files:

  gold         )" +
         DocumentsPartNames(true) + R"(
  others       )" +
         DocumentsPartNames(false) + R"(

Other fields have no effect, and a note names them; a field whose name is nearly one of these is refused.

If the lines have different numbers of documents, places are shares: 0% is the first document of every line,
100% its last, 25% the document nearest to a quarter of the way. Shares that mean the same document of a short
line run once and count for both; gold_rank in the file is the document's rank.

CSV: the first line names the columns; lists are JSON in a cell, or columns document_1 (or Document 1), ...

Lines may be added at the end of the file later: sweep --add then runs only the new ones.

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
