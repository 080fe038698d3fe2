// SPDX-License-Identifier: MIT
// Tasks whose prompt contains one gold piece, which answers the question, at a place that the
// caller chooses.
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

// Every task can be scored in two ways: `answer` is teacher-forced, and generated text is scored by
// ScoreGenerated().
struct TaskSample {
  std::string text;  // the prompt, without its answer
  // Spans for every piece, if the task has pieces ("line 7", "pair 7", "document 7": 1-based rank
  // in this text; without line ends), "gold" (the piece that answers) and "question".
  std::vector<ByteSpan> spans;
  std::string answer;  // follows the text; with its leading space
  int64_t place = 0;  // 1-based rank of the gold piece; in tasks by depth, its depth in percent + 1
  int64_t pieces = 0;
  std::vector<std::string> answers = {};  // references for generated text; never empty
  std::vector<std::string> classes = {};  // all classes, if the answer is one of them
  // If the task is scored by comparing likelihoods, the continuations; `answer` is one of the right
  // ones.
  std::vector<TaskChoice> choices = {};
  ChoiceRule choice_rule = ChoiceRule::kLikeliest;
  // Groups of the sample over which published tables take means, the outermost first: ("STEM",
  // "astronomy"). Empty: the task has one data set.
  std::vector<std::string> groups = {};
  std::string system = {};    // system message of a chat; "": none
  bool chat_template = true;  // false: published without one, even for chat models (LongBench)
  GenerationRule generation = {};
  // Answer of each piece, in the order of this text, if every piece has one; the gold piece's is
  // one of `answers`. Empty: pieces have no separate answers.
  std::vector<std::string> piece_answers = {};
  // Whether the text was cut to a number of tokens (nullopt: the task does not cut), and whether
  // that removed the whole gold piece.
  std::optional<bool> cut = std::nullopt;
  bool gold_cut = false;
  // 1-based rank of the gold piece among the pieces of this text; 0 if the task has no pieces. It
  // differs from `place` in tasks by depth, where two places may have the same rank and then the
  // same text.
  int64_t gold_rank = 0;
};

// Scores generated text by the sample's `generation` rule, 0 to 1. Throws Error (failure) if the
// answers don't fit the rule.
double ScoreGenerated(const TaskSample& sample, std::string_view generated);

// Returns the 1-based rank of the piece whose answer the generated text gives, i.e. with a full
// score by the sample's rule: the gold piece if it is one of them, otherwise the one that the text
// names first (ties: the longest answer, then the first in the prompt); 0 if there is none. Throws
// in the same cases as ScoreGenerated.
int64_t AnsweredPiece(const TaskSample& sample, std::string_view generated);

class Task {
 public:
  virtual ~Task() = default;
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // The spec with every parameter stated: "list:lines=20".
  virtual std::string name() const = 0;
  // Number of places: the number of pieces, or 101 in tasks by depth.
  virtual int64_t pieces() const = 0;
  // Number of the first place: 1, or 0 if the spec counts places from 0.
  virtual int64_t first_place() const { return 1; }
  // Whether places are depths: at place p, the gold piece is p - 1 percent into the text or, if
  // samples have different numbers of pieces, the piece at RankAtPercent of the sample's pieces.
  virtual bool by_depth() const { return false; }
  // Number of samples; nullopt if it is unlimited.
  virtual std::optional<int64_t> samples() const { return std::nullopt; }
  // Returns notes for the user about the files that were read.
  virtual std::vector<std::string> notes() const { return {}; }
  // Whether the task's published score is a likelihood, not a score of generated text.
  virtual bool scored_by_likelihood() const { return false; }
  // Makes a sample, which depends only on (seed, sample); `place`, one of pieces() numbers from
  // first_place(), only moves the gold piece among the others, which keep their order. Throws Error
  // (usage) if place or sample is out of range.
  virtual TaskSample Make(int64_t sample, int64_t place) const = 0;
};

// Number of places of a task by depth: 0 to 100 percent.
inline constexpr int64_t kDepthPlaces = 101;

// Returns the error (usage) of places for a task that has one.
Error OnlyOnePlace(const Task& task, const std::string& thing);

// Throws Error (usage) unless first_place() <= place < first_place() + pieces().
void CheckPlace(const Task& task, int64_t place);

// Throws Error (usage) unless 0 <= sample < task.samples().
void CheckSample(const Task& task, int64_t sample);

// Returns the rank of the piece at `percent` (0 to 100) of the way from the first to the last
// piece:
// 1 + floor(share * (pieces - 1) + 0.5). For 140 pieces and 0, 25, 50, 75, 100 percent: 1, 36, 71,
// 105, 140.
int64_t RankAtPercent(int64_t pieces, int64_t percent);

// Parses a place: "12", or "25%", which is the depth in tasks by depth (place 26) and the piece at
// RankAtPercent in others. Throws Error (usage) if the task has no such place.
int64_t ReadPlace(const Task& task, std::string_view text);

// Whether a word, given with its leading space, may be an answer of the list task, i.e. is one
// token of the model. Empty: every word may.
using WordFilter = std::function<bool(const std::string& word_with_leading_space)>;

// Returns the number of tokens of a text in the model, without BOS. If empty, tasks whose length is
// in tokens can't be made.
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
// Returns the first `first` and the last `last` tokens of a text. If empty, tasks that cut by
// tokens can't be made.
using TokenEnds = std::function<TextEnds(std::string_view text, int64_t first, int64_t last)>;

// Everything that samples depend on besides the task's parameters.
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
// allowed values, if a value does not exist or is out of range, and Error (failure) with file name
// and line if a file is damaged.
std::unique_ptr<Task> MakeTask(std::string_view spec, uint64_t seed, const WordFilter& filter = {},
                               const TokenCounter& count_tokens = {},
                               const TokenEnds& token_ends = {});

// Returns the XXH3-128 of the contents of the files that a spec names (for a folder, of the files
// that the task reads), to distinguish files of the same name; "" if it names none. Throws in the
// same cases as MakeTask.
std::string TaskFilesHash(std::string_view spec);
// As above, with only the first `bytes` bytes of the file: the hash from before lines were appended
// to it. Call it only if GrowingFileBytes(spec) >= bytes.
std::string TaskFilesHashOf(std::string_view spec, int64_t bytes);
// Returns the size in bytes of the task's file if sample N is made from its Nth line alone, so that
// lines can be appended without a change to earlier samples (`jsonl` of an uncompressed file);
// nullopt otherwise. Throws in the same cases as MakeTask.
std::optional<int64_t> GrowingFileBytes(std::string_view spec);

struct TaskType;
// Returns all tasks, in the order in which help lists them.
const std::vector<TaskType>& Tasks();

// Whether the outcome of a task with this Task::name() is the perplexity of running text, as for
// `text`.
bool IsPerplexityTask(std::string_view task_name);

// Returns the help text: one line per task, with its parameters, their ranges and defaults.
std::string TaskHelp();

}  // namespace midscope
