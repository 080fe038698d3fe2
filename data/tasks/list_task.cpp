// SPDX-License-Identifier: MIT
// A list of people and the item that each of them bought; the question is about one person's item.
// This task is Midscope's own: short enough for small models, with an answer of one token.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/word_lists.h"

namespace midscope {
namespace {

// New tokens to generate: the answer is one word; a few more show whether other items follow.
constexpr int64_t kListNewTokens = 10;

class ListTask : public SpecTask {
 public:
  ListTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec), lines_(spec.Number("lines")), seed_(inputs.seed) {
    for (const std::string& thing : ThingsToBuy()) {
      if (!inputs.filter || inputs.filter(" " + thing)) things_.push_back(thing);
    }
    if (static_cast<int64_t>(things_.size()) < lines_) {
      throw UsageError(
          "task '" + name_ + "'",
          fmt::format("only {} of its items are one token in this model", things_.size()),
          things_.empty() ? "Take a task whose answers may have several tokens, such as kv:pairs=5"
                          : fmt::format("Give lines={} or fewer", things_.size()));
    }
  }

  int64_t pieces() const override { return lines_; }
  bool scored_by_likelihood() const override { return true; }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    const auto count = static_cast<size_t>(lines_);
    const std::vector<std::string> names = random.Draw(FirstNames(), count);
    const std::vector<std::string> things = random.Draw(things_, count);

    std::vector<std::string> lines;
    for (size_t i = 0; i < count; ++i) lines.push_back(names[i] + " bought: " + things[i]);
    lines = WithFirstAt(std::move(lines), place);

    PromptBuilder prompt;
    prompt.Add("Below is a list of people and the item that each one bought.\n\n");
    for (int64_t rank = 1; rank <= lines_; ++rank) {
      prompt.AddSpan(fmt::format("line {}", rank), lines[static_cast<size_t>(rank - 1)]);
      if (rank == place) prompt.NameLastSpan("gold");
      prompt.Add("\n");
    }
    prompt.Add("\n");
    prompt.AddSpan("question", "Question: what did " + names[0] + " buy?");
    prompt.Add("\nAnswer: " + names[0] + " bought:");
    TaskSample made = std::move(prompt).Sample(" " + things[0], place, lines_);
    made.generation = {kListNewTokens, AnswerCut::kStrippedFirstLine, AnswerMetric::kSubspan};
    made.piece_answers = WithFirstAt(things, place);
    return made;
  }

 private:
  int64_t lines_;
  uint64_t seed_;
  std::vector<std::string> things_;
};

}  // namespace

TaskType ListTaskType() {
  const auto most = static_cast<int64_t>(std::min(FirstNames().size(), ThingsToBuy().size()));
  TaskType type = {"list",
                   "who bought what; the answer is one token",
                   {WholeNumberParameter("lines", "people in the list", 1, most, 20)}};
  type.make = MakeSpecTask<ListTask>;
  return type;
}

}  // namespace midscope
