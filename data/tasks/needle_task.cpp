// SPDX-License-Identifier: MIT
// A needle in a haystack (Kamradt 2023): one sentence about San Francisco in a long text, which is
// generated or from a file or folder. Place p is a depth of p - 1 percent of the context's tokens.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/tasks/haystack.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

constexpr const char* kNeedle =
    "The best thing to do in San Francisco is eat a sandwich and sit in Dolores Park on a sunny "
    "day.";
constexpr const char* kAnswer = "eat a sandwich and sit in Dolores Park on a sunny day.";
constexpr const char* kQuestion = "What is the best thing to do in San Francisco?";
constexpr const char* kDescription =
    "Read the text below with care. One question about it follows at its end.\n\n";
constexpr const char* kChatSystem =
    "You are a helpful AI bot that answers questions for a user. Keep your response short and "
    "direct";
constexpr const char* kChatRequest =
    " Don't give information outside the document or repeat your findings";
constexpr int64_t kChatBuffer = 200;  // tokens that Kamradt's code reserves
// Reserve in tokens: the joined prompt may have a few more tokens than the separate parts.
constexpr int64_t kJoinTokens = 4;

// Returns the byte offsets of the ends of sentences: 0, then the offset after each '.' that
// precedes white space or the end of the text.
std::vector<size_t> SentenceEnds(std::string_view text) {
  std::vector<size_t> ends = {0};
  for (size_t at = text.find('.'); at != std::string_view::npos; at = text.find('.', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n') {
      ends.push_back(at + 1);
    }
  }
  return ends;
}

class NeedleTask : public SpecTask {
 public:
  NeedleTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        chat_(spec.Choice("form") != 0),
        metric_(spec.Choice("score") == 0 ? AnswerMetric::kRougeL : AnswerMetric::kWordRecall),
        seed_(inputs.seed),
        count_(NeedCounter(inputs.count_tokens, name_)) {
    const int64_t tokens = spec.Number("tokens");
    context_tokens_ = chat_ ? tokens - kChatBuffer - count_("\n" + std::string(kNeedle) + "\n")
                            : tokens - count_(Prompt("", 0, 1).text) - kJoinTokens;
    if (context_tokens_ <= 0) {
      throw UsageError("task '" + name_ + "'", "its tokens leave no space for a text",
                       "Give more tokens");
    }
    if (!spec.file().empty()) text_ = ReadHaystack(spec.file());
  }

  int64_t pieces() const override { return kDepthPlaces; }
  bool by_depth() const override { return true; }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    const std::string haystack = Haystack(sample);
    const std::string_view context = FirstTokens(haystack, context_tokens_, count_);
    return Prompt(context, NeedlePlace(context, place - 1), place);
  }

 private:
  // Returns the text of a sample's haystack, longer than needed; it is extended until it has enough
  // tokens.
  std::string Haystack(int64_t sample) const {
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    const uint64_t offset = sample == 0 ? 0 : random.Next();
    constexpr int64_t kBytesPerToken = 8;
    for (int64_t bytes = kBytesPerToken * context_tokens_;; bytes *= 2) {
      std::string haystack =
          text_.empty() ? MakeHaystack(bytes, random) : RepeatedText(text_, bytes, offset);
      if (count_(haystack) >= context_tokens_) return haystack;
    }
  }

  size_t NeedlePlace(std::string_view context, int64_t percent) const {
    if (percent == kDepthPlaces - 1) return context.size();
    const std::vector<size_t> ends = SentenceEnds(context);
    const int64_t tokens = count_(context) * percent / (kDepthPlaces - 1);
    const int64_t last = LargestFitting(static_cast<int64_t>(ends.size()) - 1, [&](int64_t end) {
      return end == 0 || count_(context.substr(0, ends[static_cast<size_t>(end)])) <= tokens;
    });
    return ends[static_cast<size_t>(last)];
  }

  TaskSample Prompt(std::string_view context, size_t needle_place, int64_t place) const {
    constexpr int64_t kNewTokens = 100;
    const std::string around = chat_ ? "\n" : "\n\n";
    PromptBuilder prompt;
    if (!chat_) prompt.Add(kDescription);
    prompt.Add(context.substr(0, needle_place));
    prompt.Add(around);
    prompt.AddSpan("gold", kNeedle);
    prompt.Add(around);
    prompt.Add(context.substr(needle_place));
    prompt.Add("\n\n");
    prompt.AddSpan("question", kQuestion);
    prompt.Add(chat_ ? kChatRequest : "\nAnswer:");
    TaskSample made =
        std::move(prompt).Sample(std::vector<std::string>{kAnswer}, place, kDepthPlaces);
    if (chat_) made.system = kChatSystem;
    made.generation = {kNewTokens, AnswerCut::kStrippedFirstLine, metric_};
    return made;
  }

  bool chat_;
  AnswerMetric metric_;
  uint64_t seed_;
  TokenCounter count_;
  int64_t context_tokens_ = 0;
  std::string text_;  // haystack; empty: generated
};

}  // namespace

// form=answer (as in CREAM, but with another descriptive sentence): a prompt of at most `tokens`
// tokens of context, question and "Answer:"; scored by ROUGE-L on the first line. CREAM's mistake,
// which shifts every depth by the length of the description, is not repeated. form=chat (Kamradt):
// a system message, the context, the question with the request not to go beyond the document;
// context and needle have `tokens` - 200 tokens. Kamradt's score comes from a judge model; here the
// score is ROUGE-L or, with score=word-recall, WordRecall (match_scores.h).
//
// The needle is put after the last full stop at or before the depth; for depth 100, at the end of
// the text. A full stop is a '.' before white space; in Kamradt's code, it is the token '.'. The
// haystack of sample 0 begins at the beginning of the text, of others at a random sentence. A text
// that is too short is repeated, as in Kamradt's code.
TaskType NeedleTaskType() {
  Parameter score = ChoiceParameter(
      "score", "ROUGE-L (CREAM), or the share of the answer's words that are there (a rule)",
      {"rouge-l", "word-recall"});
  score.always_stated = false;
  TaskType type = {
      "needle",
      "a sentence hidden in a long text; places are depths, such as 25%",
      {PromptTokensParameter(),
       ChoiceParameter("form", "one prompt that ends in Answer: (CREAM) or a chat's (Kamradt)",
                       {"answer", "chat"}),
       std::move(score),
       TaskFile("the text to hide it in, a file or a folder of *.txt; without it the text "
                "is made",
                false)}};
  type.make = MakeSpecTask<NeedleTask>;
  return type;
}

}  // namespace midscope
