// SPDX-License-Identifier: MIT
// Tasks whose prompt holds one piece that answers the question, at a place that can be chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/spans.h"
#include "data/tasks/answer_scoring.h"
#include "data/tasks/choices.h"

namespace midscope {

// Every task is scored two ways: `answer` is teacher-forced, and the text that the model generates
// is scored by ScoreGenerated().
struct TaskSample {
  std::string text;  // the prompt, without its answer
  // Where the task has pieces, every piece ("line 7", "pair 7", "document 7": 1-based rank in this
  // text, line ends left out); "gold" (the piece that answers), "question".
  std::vector<ByteSpan> spans;
  std::string answer;  // what follows the text, with its leading space
  int64_t place = 0;   // 1-based rank of the gold piece; its place in tasks by depth
  int64_t pieces = 0;
  std::vector<std::string> answers = {};  // what generated text is scored against; never empty
  std::vector<std::string> classes = {};  // all of them, where the answer is one of several
  // Continuations to compare by likelihood, `answer` among the right ones, where that is how the
  // task is scored.
  std::vector<TaskChoice> choices = {};
  ChoiceRule choice_rule = ChoiceRule::kLikeliest;
  // Groups over which published tables take means, the outermost first: ("STEM", "astronomy").
  // Empty: the task has one data set.
  std::vector<std::string> groups = {};
  std::string system = {};    // a chat's system message, where the format has one
  bool chat_template = true;  // false: published without one, even for chat models (LongBench)
  GenerationRule generation = {};
  // Answer of each piece, in the order of this text, where every piece has a separate answer: the
  // gold piece's is one of `answers`. Empty: they have none.
  std::vector<std::string> piece_answers = {};
  // Whether a task that cuts long texts to a number of tokens cut this one, and whether none of the
  // gold piece is left.
  std::optional<bool> cut = std::nullopt;
  bool gold_cut = false;
};

// 0 to 1, by the sample's own rule. Throws Error (failure) if the answers don't fit it.
double ScoreGenerated(const TaskSample& sample, std::string_view generated);

// 1-based rank of the piece whose answer the generated text gives, by the sample's own rule (a full
// score): the gold piece where the text is right, else of those that score the one that the text
// names first (of several there the longest, then the first in the prompt); 0 for none. Throws in
// the same cases as ScoreGenerated.
int64_t AnsweredPiece(const TaskSample& sample, std::string_view generated);

class Task {
 public:
  virtual ~Task() = default;
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // The spec in full, every parameter stated: "list:lines=20".
  virtual std::string name() const = 0;
  // Number of places of a prompt: its pieces, or 101 in tasks by depth.
  virtual int64_t pieces() const = 0;
  // 1, or 0 if the spec counts places from 0.
  virtual int64_t first_place() const { return 1; }
  // Whether places are depths: place p has the gold piece p - 1 percent into the text.
  virtual bool by_depth() const { return false; }
  // Number of samples; nullopt if it is unlimited.
  virtual std::optional<int64_t> samples() const { return std::nullopt; }
  // Notes for the user about the files that were read.
  virtual std::vector<std::string> notes() const { return {}; }
  // Whether its own score is a likelihood, and not a score of generated text.
  virtual bool scored_by_likelihood() const { return false; }
  // The sample depends on (seed, sample) only; `place` (first_place() and on, pieces() of them)
  // only moves the gold piece among the others, which keep their order. Throws Error (usage) for a
  // place or sample out of range.
  virtual TaskSample Make(int64_t sample, int64_t place) const = 0;
};

// The places of a task by depth: 0 to 100 percent.
inline constexpr int64_t kDepthPlaces = 101;

// Throws Error (usage) unless first_place() <= place < first_place() + pieces().
void CheckPlace(const Task& task, int64_t place);

// Throws Error (usage) unless 0 <= sample < task.samples().
void CheckSample(const Task& task, int64_t sample);

// The rank at `percent` (0 to 100) of the way from the first of `pieces` pieces to the last:
// 1 + floor(share * (pieces - 1) + 0.5). 140 pieces have 1, 36, 71, 105, 140 at the quarters.
int64_t RankAtPercent(int64_t pieces, int64_t percent);

// "12", or "25%": the depth in tasks by depth (place 26), the piece at RankAtPercent in the others.
// Throws Error (usage) if it is not a place of the task.
int64_t ReadPlace(const Task& task, std::string_view text);

// Whether a word, given with its leading space, may be an answer of the list task: one token in the
// model. Empty: every word may.
using WordFilter = std::function<bool(const std::string& word_with_leading_space)>;

// Number of tokens of a text in the model, without BOS. Empty: tasks whose length is in
// tokens can't be made.
using TokenCounter = std::function<int64_t(std::string_view)>;

// The text of the first and of the last so many of a text's tokens, as transformers decodes them:
// without the space that a tokenizer puts in front of text and without special tokens, with U+FFFD
// for parts of characters.
struct TextEnds {
  std::string first;
  std::string last;
  // Byte ranges [begin, end) of the text that are special tokens in either end, in order.
  std::vector<std::pair<int64_t, int64_t>> special = {};
};
// Empty: tasks that cut by tokens can't be made.
using TokenEnds = std::function<TextEnds(std::string_view text, int64_t first, int64_t last)>;

// Values that samples depend on besides the task's parameters.
struct TaskInputs {
  uint64_t seed = 1;
  const WordFilter& filter;
  const TokenCounter& count_tokens;
  const TokenEnds& token_ends;
};

// spec: "list:lines=20" (the project's own list of purchases), "kv:pairs=75" (UUID key-value
// retrieval; Liu et al., arXiv 2307.03172; query_aware=1 repeats the question in front), and the
// others that TaskHelp() lists. Parameters are joined by commas and may be left out; a file comes
// last and takes the rest of the text. Throws Error (usage) for a value that does not exist or is
// out of range, with the existing ones, and Error (failure) for a damaged file, with its name and
// line.
std::unique_ptr<Task> MakeTask(std::string_view spec, uint64_t seed, const WordFilter& filter = {},
                               const TokenCounter& count_tokens = {},
                               const TokenEnds& token_ends = {});

// XXH3-128 of the contents of the files that a spec names (of a folder those that it reads), to
// distinguish files of the same name;
// "" if it names none. Throws in the same cases as MakeTask.
std::string TaskFilesHash(std::string_view spec);

struct TaskType;
// All tasks, in the order in which help lists them.
const std::vector<TaskType>& Tasks();

// Whether a task of this name (Task::name()) scores running text, so that its outcome is a
// perplexity: `text`.
bool IsPerplexityTask(std::string_view task_name);

// One line a task, with its parameters, their ranges and defaults, for help.
std::string TaskHelp();

}  // namespace midscope
