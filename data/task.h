// SPDX-License-Identifier: MIT
// Tasks whose prompt holds one piece that answers the question, at a place that can be chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// A named passage of a prompt: bytes [begin, end) of the text.
struct TextSpan {
  std::string name;
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const TextSpan&) const = default;
};

struct TaskSample {
  std::string text;  // the prompt, without its answer
  // Every piece ("line 7", "pair 7": 1-based rank in this text, line ends left out), "gold" (the
  // piece that answers), "question".
  std::vector<TextSpan> spans;
  std::string answer;  // what follows the text, with its leading space
  int64_t place = 0;   // 1-based rank of the gold piece
  int64_t pieces = 0;
};

class Task {
 public:
  virtual ~Task() = default;
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // The spec in full, every parameter stated: "list:lines=20".
  virtual std::string name() const = 0;
  // How many pieces, and so how many places, a prompt has.
  virtual int64_t pieces() const = 0;
  // What is asked depends on (seed, sample) alone; `place` (1 to pieces()) only moves the gold
  // piece among the others, which keep their order. Throws Error (usage) for a place out of range.
  virtual TaskSample Make(int64_t sample, int64_t place) const = 0;
};

// Throws Error (usage) unless 1 <= place <= task.pieces().
void CheckPlace(const Task& task, int64_t place);

// Says whether a word, given with its leading space, may be an answer of the list task: one token
// in the model at hand. Empty: every word may.
using WordFilter = std::function<bool(const std::string& word_with_leading_space)>;

// spec: "list:lines=20" (the project's own list of purchases), "kv:pairs=75" (UUID key-value
// retrieval; Liu et al., arXiv 2307.03172; query_aware=1 repeats the question in front). Parameters
// are joined by commas and may be left out. Throws Error (usage) for what does not exist or is out
// of range, with what there is.
std::unique_ptr<Task> MakeTask(std::string_view spec, uint64_t seed, const WordFilter& filter = {});

// One line a task, with its parameters, their ranges and defaults, for help.
std::string TaskHelp();

}  // namespace midscope
