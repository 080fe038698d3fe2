// SPDX-License-Identifier: MIT
// The task `text`: perplexity of text files, scored as prompts (context) and continuations.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/tasks/haystack.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/text_documents.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

// A text and the end offsets of the pieces into which it is cut.
struct CutText {
  std::string document;  // name; "": the file is one text
  std::string text;
  std::vector<size_t> ends = {};
};

class TextTask : public SpecTask {
 public:
  TextTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        tokens_(spec.Number("tokens")),
        stride_(spec.Number("stride")),
        count_(NeedCounter(inputs.count_tokens, name_)) {
    if (stride_ >= tokens_) {
      throw UsageError("task '" + name_ + "'", "its stride leaves no room for a prompt",
                       "Give a stride smaller than tokens");
    }
    const std::string& field = spec.parameters.Text("field");
    const bool is_lines = IsJsonLinesFile(spec.file());
    if (is_lines && field.empty()) RefuseWithoutField(name_, spec.file());
    if (!is_lines && !field.empty()) {
      throw UsageError("task '" + name_ + "'", "only a JSONL file has the field " + Quote(field),
                       "Leave field= out, or give a file *.jsonl or *.jsonl.gz");
    }
    if (is_lines || spec.Number("documents") > 0) {
      ReadDocuments(spec, field);
    } else {
      AddText(spec, std::max(spec.Number("from"), stride_), {"", ReadHaystack(spec.file())});
    }
    if (windows_.empty()) {
      throw Failure(spec.file(), "it is too short: nothing is left to score",
                    "Give a longer text, or a smaller stride or from");
    }
  }

  std::optional<int64_t> samples() const override { return std::ssize(windows_); }
  bool scored_by_likelihood() const override { return true; }
  std::vector<std::string> notes() const override {
    if (too_short_ == 0) return {};
    return {CountText(too_short_, "document") + (too_short_ == 1 ? " is" : " are") +
            " too short for a window and left out"};
  }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    const auto [number, index] = windows_[static_cast<size_t>(sample)];
    const CutText& cut = texts_[number];
    const std::string_view before = std::string_view(cut.text).substr(0, cut.ends[index]);
    const std::string answer =
        cut.text.substr(cut.ends[index], cut.ends[index + 1] - cut.ends[index]);
    PromptBuilder prompt;
    prompt.Add(LastTokens(before, tokens_ - stride_, count_));
    TaskSample made = std::move(prompt).Sample(answer, place, 1);
    made.chat_template = false;
    made.generation = {stride_, AnswerCut::kWhole, AnswerMetric::kRougeL};
    if (!cut.document.empty()) made.groups = {cut.document};
    return made;
  }

 private:
  // Reads documents until the number in the spec (0: all) have at least one window.
  void ReadDocuments(const TaskSpec& spec, const std::string& field) {
    const int64_t most = spec.Number("documents");
    const int64_t from = spec.Number("from") > 0 ? spec.Number("from") : stride_;
    ForEachDocument(spec.file(), field, [&](const std::string& name, std::string text) {
      if (!AddText(spec, from, {name, std::move(text)})) ++too_short_;
      return most == 0 || std::ssize(texts_) < most;
    });
    if (std::ssize(texts_) >= most) return;
    throw Failure(spec.file(),
                  "it has only " + CountText(std::ssize(texts_), "document") +
                      " that are long enough for a window",
                  "Give documents=" + std::to_string(std::max<int64_t>(1, std::ssize(texts_))) +
                      " or fewer, or other documents");
  }

  // Adds a text and its windows. Returns false and does not add it if it is too short for a window.
  bool AddText(const TaskSpec& spec, int64_t from, CutText text) {
    CutPieces(from, spec.Number("windows") + 1, text);
    if (text.ends.size() < 2) return false;
    for (size_t i = 0; i + 1 < text.ends.size(); ++i) windows_.emplace_back(texts_.size(), i);
    texts_.push_back(std::move(text));
    return true;
  }

  // Cuts the text into at most `most` pieces, the first of `from` tokens, the others of `stride`;
  // white space at the end of the text does not form a piece.
  void CutPieces(int64_t from, int64_t most, CutText& cut) const {
    size_t end = 0;
    while (static_cast<int64_t>(cut.ends.size()) < most) {
      const int64_t tokens = cut.ends.empty() ? from : stride_;
      const std::string_view piece =
          FirstTokens(std::string_view(cut.text).substr(end), tokens, count_);
      if (StripText(piece).empty()) return;
      end += piece.size();
      cut.ends.push_back(end);
    }
  }

  int64_t tokens_;
  int64_t stride_;
  TokenCounter count_;
  std::vector<CutText> texts_;
  std::vector<std::pair<size_t, size_t>> windows_;  // [sample] (text, piece before the answer)
  int64_t too_short_ = 0;                           // number of documents without a window
};

constexpr int64_t kMostTokens = 1 << 20;

Parameter FromParameter() {
  Parameter from = WholeNumberParameter(
      "from",
      "tokens of the text before the first that are scored, so that windows of several lengths "
      "score the same",
      0, kMostTokens, 0);
  from.always_stated = false;
  return from;
}

Parameter FieldParameter() {
  Parameter field = TextParameter(
      "field",
      "of a JSONL file: the field of its lines that has the text; each line is a document");
  field.always_stated = false;
  return field;
}

Parameter DocumentsParameter() {
  constexpr int64_t kMostDocuments = 1000000;
  Parameter documents = WholeNumberParameter(
      "documents",
      "the first so many documents are read one by one: lines of a JSONL file (0: all), or the "
      "files of a folder (0: they are joined to one text)",
      0, kMostDocuments, 0);
  documents.always_stated = false;
  return documents;
}

}  // namespace

bool IsPerplexityTask(std::string_view task_name) { return task_name.starts_with("text:"); }

// Sliding-window perplexity: the answer of sample i (from 0) is piece i + 2 of the text, of
// `stride` tokens; the prompt is the preceding text, up to `tokens` - `stride` tokens. The first
// piece is never scored. With `from`, the first piece has that many tokens, so that windows of
// different lengths, up to `from` + `stride` tokens, score the same pieces, all after a prompt of
// full length. The perplexity of a file is exp(sum of answer_nll / sum of answer tokens) over its
// samples. Windows begin and end at white space, whereas the public scripts cut between token ids,
// so that a piece may have a few tokens fewer. If documents are read one by one, no window crosses
// from one into the next, `windows` limits the windows of each document, documents without a window
// are omitted, and `from` may be smaller than `stride`: from=1,stride=4095 scores all of 4,096
// tokens except the first ones in one run. Table 3 of CREAM (arXiv 2406.07138) lists the mean over
// documents of these perplexities. Generated text is compared with the continuation by ROUGE-L,
// because there is no correct answer.
TaskType TextTaskType() {
  constexpr int64_t kMostWindows = 100000;
  TaskType type = {
      "text",
      "perplexity over a text, in a sliding window",
      {WholeNumberParameter("tokens", "of a window", 2, kMostTokens, 1024),
       WholeNumberParameter("stride", "tokens scored in each window", 1, kMostTokens, 256),
       WholeNumberParameter("windows", "at most so many, of each document", 1, kMostWindows, 1000),
       FromParameter(), FieldParameter(), DocumentsParameter(),
       TaskFile("the text: a file, a folder of *.txt, or a JSONL file with field=", true)}};
  type.make = MakeSpecTask<TextTask>;
  return type;
}

}  // namespace midscope
