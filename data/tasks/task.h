// SPDX-License-Identifier: MIT
// Tasks: prompts with one gold piece, which contains the answer, at a position ("place") that the
// caller chooses among the other pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/spans.h"
#include "data/tasks/answer_scoring.h"
#include "data/tasks/choices.h"

namespace midscope {

// One prompt of a task, with answers. Every sample can be scored in two ways: by the likelihood of
// `answer` (teacher-forced), and by ScoreGenerated() of generated text.
struct TaskSample {
  std::string text;  // the prompt, without its answer
  // Byte spans of `text`: every piece, if the task has pieces ("line 7", "pair 7", "document 7":
  // 1-based rank in this text; without line ends), "gold" (the piece with the answer), "question".
  std::vector<ByteSpan> spans;
  std::string answer;  // follows the text; with leading space
  int64_t place = 0;   // 1-based rank of the gold piece; in tasks by depth, percent + 1
  int64_t pieces = 0;
  std::vector<std::string> answers = {};  // references for generated text; never empty
  std::vector<std::string> classes = {};  // all classes, if the answer is one of them
  // The continuations whose likelihoods are compared, in multiple-choice tasks; `answer` is a right
  // one.
  std::vector<TaskChoice> choices = {};
  ChoiceRule choice_rule = ChoiceRule::kLikeliest;
  // Groups (data sets, subjects) of the sample over which published tables average, outermost
  // first: ("STEM", "astronomy"). Empty: the task has one data set.
  std::vector<std::string> groups = {};
  std::string system = {};    // system message of a chat; "": none
  bool chat_template = true;  // false: published without one, even for chat models (LongBench)
  GenerationRule generation = {};
  // [piece], in the order of this text: the answer that the piece contains; for the gold piece, one
  // of `answers`. Empty: not every piece contains an answer.
  std::vector<std::string> piece_answers = {};
  // Whether the text was cut to a maximum number of tokens (nullopt: the task never cuts), and
  // whether the cut removed the whole gold piece.
  std::optional<bool> cut = std::nullopt;
  bool gold_cut = false;
  // 1-based rank of the gold piece among the pieces of this text; 0 if the task has no pieces. It
  // differs from `place` in tasks by depth, where two places may have the same rank and then the
  // same text.
  int64_t gold_rank = 0;
};

// Returns the score of generated text by the sample's `generation` rule, 0 to 1. Throws Error
// (failure) if the rule can't use the answers.
double ScoreGenerated(const TaskSample& sample, std::string_view generated);

// Returns the 1-based rank of the piece whose answer gives the generated text a full score by the
// sample's rule; 0 if there is none. If there are several, returns the gold piece or, if it is not
// among them, the piece whose answer occurs first in the text (ties: the longest answer, then the
// first in the prompt). Throws as ScoreGenerated does.
int64_t AnsweredPiece(const TaskSample& sample, std::string_view generated);

class Task {
 public:
  virtual ~Task() = default;
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Returns the task spec with every parameter stated: "list:lines=20".
  virtual std::string name() const = 0;
  // Returns the number of places: the number of pieces, or 101 in tasks by depth.
  virtual int64_t pieces() const = 0;
  // Returns the number of the first place: 1, or 0 if the spec counts places from 0.
  virtual int64_t first_place() const { return 1; }
  // Whether places are depths: at place p, the gold piece is p - 1 percent into the text or, if
  // samples have different numbers of pieces, the piece at RankAtPercent of the sample's pieces.
  virtual bool by_depth() const { return false; }
  // Returns the number of samples; nullopt if it is unlimited.
  virtual std::optional<int64_t> samples() const { return std::nullopt; }
  // Returns notes for the user about the files that were read.
  virtual std::vector<std::string> notes() const { return {}; }
  // Whether the task's published score is a likelihood, not a score of generated text.
  virtual bool scored_by_likelihood() const { return false; }
  // Makes a sample, which depends only on (seed, sample). `place` (first_place() to first_place() +
  // pieces() - 1) only moves the gold piece among the others, which keep their order. Throws Error
  // (usage) if place or sample is out of range.
  virtual TaskSample Make(int64_t sample, int64_t place) const = 0;
};

// Number of places of a task by depth: one per percent, 0 to 100.
inline constexpr int64_t kDepthPlaces = 101;

// Returns the Error (usage) for a request that needs several places of a task that has one place.
Error OnlyOnePlace(const Task& task, const std::string& thing);

// Throws Error (usage) unless first_place() <= place < first_place() + pieces().
void CheckPlace(const Task& task, int64_t place);

// Throws Error (usage) unless 0 <= sample < task.samples().
void CheckSample(const Task& task, int64_t sample);

// Returns the 1-based rank of the piece at `percent` (0 to 100) of the way from first to last
// piece: 1 + floor(share * (pieces - 1) + 0.5). Ranks among 140 pieces at 0, 25, 50, 75, 100
// percent: 1, 36, 71, 105, 140.
int64_t RankAtPercent(int64_t pieces, int64_t percent);

// Returns the place in a text: "12", or "25%", which is place 26 in tasks by depth and the piece at
// RankAtPercent in other tasks. Throws Error (usage) if the task has no such place.
int64_t ReadPlace(const Task& task, std::string_view text);

// Returns whether a word, passed with leading space, may be an answer of the list task because it
// is one token of the model. An empty function accepts every word.
using WordFilter = std::function<bool(const std::string& word_with_leading_space)>;

// Returns the number of tokens of a text with the model's tokenizer, without BOS. Tasks whose
// length is in tokens require this function.
using TokenCounter = std::function<int64_t(std::string_view)>;

// The decoded first and last tokens of a text, as transformers decodes them: without the space that
// a tokenizer puts in front of text, without special tokens, and with U+FFFD for parts of
// characters.
struct TextEnds {
  std::string first;
  std::string last;
  // Byte ranges [begin, end) of the original text that are special tokens in `first` or `last`, in
  // order.
  std::vector<std::pair<int64_t, int64_t>> special = {};
};
// Returns the first `first` and the last `last` tokens of a text, decoded. Tasks that cut text
// between tokens require this function.
using TokenEnds = std::function<TextEnds(std::string_view text, int64_t first, int64_t last)>;

// All inputs on which samples depend besides the task's parameters.
struct TaskInputs {
  uint64_t seed = 1;
  const WordFilter& filter;
  const TokenCounter& count_tokens;
  const TokenEnds& token_ends;
};

// Makes a task from a spec: "list:lines=20" (the project's own list of purchases), "kv:pairs=75"
// (UUID key-value retrieval; Liu et al., arXiv 2307.03172; query_aware=1 repeats the question in
// front), and the others that TaskHelp() lists. Parameters are separated by commas and may be
// omitted; a file comes last and takes the rest of the text. Throws Error (usage), which lists the
// allowed values, for an unknown task or parameter or a value out of range, and Error (failure)
// with file name and line for an invalid file.
std::unique_ptr<Task> MakeTask(std::string_view spec, uint64_t seed, const WordFilter& filter = {},
                               const TokenCounter& count_tokens = {},
                               const TokenEnds& token_ends = {});

// Returns the XXH3-128 hash of the contents of the files that a spec names (for a folder, of the
// files that the task reads), to distinguish files of the same name; "" if the spec names none.
// Throws in the same cases as MakeTask.
std::string TaskFilesHash(std::string_view spec);
// Returns TaskFilesHash as it was when the task's file had only `bytes` bytes, before lines were
// appended. Requires GrowingFileBytes(spec) >= bytes.
std::string TaskFilesHashOf(std::string_view spec, int64_t bytes);
// Returns the size in bytes of the task's file if sample N is made from its Nth line alone, so that
// lines can be appended without a change to earlier samples (`jsonl` of an uncompressed file);
// nullopt otherwise. Throws in the same cases as MakeTask.
std::optional<int64_t> GrowingFileBytes(std::string_view spec);

struct TaskType;
// Returns all task types, in the order in which help lists them.
const std::vector<TaskType>& Tasks();

// Whether the outcome of the task named `task_name` is a perplexity of running text (task `text`).
bool IsPerplexityTask(std::string_view task_name);

// Returns the help text: one line per task, with its parameters, their ranges and defaults.
std::string TaskHelp();

}  // namespace midscope
