// SPDX-License-Identifier: MIT
// Perplexity of text files, scored as prompts and continuations.
#include <algorithm>

#include "core/base/error.h"
#include "data/tasks/haystack.h"
#include "data/tasks/prompt_text.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

class TextTask : public Task {
 public:
  TextTask(const TaskSpec& spec, const TokenCounter& count_tokens)
      : name_(TaskSpecText(spec)),
        tokens_(spec.Number("tokens")),
        stride_(spec.Number("stride")),
        from_(spec.Number("from")),
        count_(NeedCounter(count_tokens, name_)) {
    if (stride_ >= tokens_) {
      throw UsageError("task '" + name_ + "'", "its stride leaves no room for a prompt",
                       "Give a stride smaller than tokens");
    }
    text_ = ReadHaystack(spec.file());
    CutPieces(spec.Number("windows") + 1);
    if (ends_.size() < 2) {
      throw Failure(spec.file(), "it is too short: nothing is left to score",
                    "Give a longer text, or a smaller stride or from");
    }
  }

  std::string name() const override { return name_; }
  int64_t pieces() const override { return 1; }
  std::optional<int64_t> samples() const override { return static_cast<int64_t>(ends_.size()) - 1; }
  bool scored_by_likelihood() const override { return true; }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    const auto index = static_cast<size_t>(sample);
    const std::string_view before = std::string_view(text_).substr(0, ends_[index]);
    const std::string answer = text_.substr(ends_[index], ends_[index + 1] - ends_[index]);
    PromptText prompt;
    prompt.Add(LastTokens(before, tokens_ - stride_, count_));
    TaskSample made = std::move(prompt).Sample(answer, place, 1);
    made.chat_template = false;
    made.generation = {stride_, AnswerCut::kWhole, AnswerMetric::kRougeL};
    return made;
  }

 private:
  // Cuts the text into pieces that contain words; white space at the end of the text is no piece.
  void CutPieces(int64_t most) {
    size_t end = 0;
    while (static_cast<int64_t>(ends_.size()) < most) {
      const int64_t tokens = ends_.empty() ? std::max(from_, stride_) : stride_;
      const std::string_view piece =
          FirstTokens(std::string_view(text_).substr(end), tokens, count_);
      if (StripText(piece).empty()) return;
      end += piece.size();
      ends_.push_back(end);
    }
  }

  std::string name_;
  int64_t tokens_;
  int64_t stride_;
  int64_t from_;
  TokenCounter count_;
  std::string text_;
  std::vector<size_t> ends_;  // ends of the pieces
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

}  // namespace

bool IsPerplexityTask(std::string_view task_name) { return task_name.starts_with("text:"); }

// A sliding window: the answer of sample i is piece i + 2 of the text, of `stride` tokens; its
// prompt is the preceding text, up to `tokens` - `stride` tokens. The first piece is never scored.
// With `from`, the first piece has that many tokens, so that windows of different lengths, up to
// `from` + `stride` tokens, score the same pieces, all after a prompt of full length. The
// perplexity of a file is exp(sum of answer_nll / sum of answer tokens) over its samples. Windows
// begin and end at white space, whereas the public scripts cut between token ids, so that a piece
// may have a few tokens fewer. The generated text is compared by ROUGE-L, because there is no
// correct answer.
TaskType TextTaskType() {
  constexpr int64_t kMostWindows = 100000;
  TaskType type = {
      "text",
      "perplexity over a text, in a sliding window",
      {WholeNumberParameter("tokens", "of a window", 2, kMostTokens, 1024),
       WholeNumberParameter("stride", "tokens scored in each window", 1, kMostTokens, 256),
       WholeNumberParameter("windows", "at most so many", 1, kMostWindows, 1000), FromParameter(),
       TaskFile("the text, a file or a folder of *.txt", true)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    return std::make_unique<TextTask>(spec, inputs.count_tokens);
  };
  return type;
}

}  // namespace midscope
