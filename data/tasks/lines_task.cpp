// SPDX-License-Identifier: MIT
// The lines tasks of LongEval (LongChat) and LongChat-Lines (abacusai, used by CREAM): lines with a
// two-word name and a number; the question requests the number of one line. Header and question are
// the published ones. Words of the names are from Midscope's lists (from the package wonderwords in
// the sources), and names are unique (not ensured in the sources).
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "core/base/random.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/word_lists.h"

namespace midscope {
namespace {

constexpr const char* kHeader =
    "Below is a record of lines I want you to remember. Each line begins with 'line <line index>' "
    "and contains a '<REGISTER_CONTENT>' at the end of the line as a numerical value. For each "
    "line index, memorize its corresponding <REGISTER_CONTENT>. At the end of the record, I will "
    "ask you to retrieve the corresponding <REGISTER_CONTENT> of a certain line index. Now the "
    "record start:\n\n";

constexpr uint64_t kLargestNumber = 50000;

std::vector<std::string> LineNames(int64_t count, SplitMix64& random) {
  const std::vector<std::string>& nouns = PlainNouns();
  std::vector<size_t> all(PlainAdjectives().size() * nouns.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<std::string> names;
  for (const size_t index : random.Draw(std::move(all), static_cast<size_t>(count))) {
    names.push_back(PlainAdjectives()[index / nouns.size()] + "-" + nouns[index % nouns.size()]);
  }
  return names;
}

std::string Line(const std::string& name, const std::string& value) {
  return "line " + name + ": REGISTER_CONTENT is <" + value + ">";
}

class LinesTask : public SpecTask {
 public:
  LinesTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        lines_(spec.Number("lines")),
        last_integer_(spec.Choice("score") == 0),
        final_space_(spec.Number("final_space") != 0),
        seed_(inputs.seed) {}

  int64_t pieces() const override { return lines_; }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    const std::vector<std::string> names = LineNames(lines_, random);
    const std::string number = std::to_string(1 + random.Below(kLargestNumber));
    std::vector<std::string> lines;
    std::vector<std::string> values;
    for (const std::string& name : names) {
      const std::string value =
          lines.empty() ? number : std::to_string(1 + random.Below(kLargestNumber));
      lines.push_back(Line(name, value));
      values.push_back(value);
    }
    lines = WithFirstAt(std::move(lines), place);

    PromptBuilder prompt;
    prompt.Add(kHeader);
    for (int64_t rank = 1; rank <= lines_; ++rank) {
      prompt.AddSpan(fmt::format("line {}", rank), lines[static_cast<size_t>(rank - 1)]);
      if (rank == place) prompt.NameLastSpan("gold");
      prompt.Add("\n");
    }
    prompt.Add("\nNow the record is over. ");
    prompt.AddSpan("question", "Tell me what is the <REGISTER_CONTENT> in line " + names[0] + "?");
    prompt.Add(" I need the number.");
    if (final_space_) prompt.Add(" ");
    TaskSample made = std::move(prompt).Sample(std::vector{number}, place, lines_);
    constexpr int64_t kLongChatTokens = 100;
    constexpr int64_t kCreamTokens = 35;
    made.generation = {last_integer_ ? kLongChatTokens : kCreamTokens, AnswerCut::kWhole,
                       last_integer_ ? AnswerMetric::kLastInteger : AnswerMetric::kFirstInteger};
    made.piece_answers = WithFirstAt(std::move(values), place);
    return made;
  }

 private:
  int64_t lines_;
  bool last_integer_;
  bool final_space_;
  uint64_t seed_;
};

}  // namespace

TaskType LinesTaskType() {
  const auto most = static_cast<int64_t>(PlainAdjectives().size() * PlainNouns().size());
  TaskType type = {
      "lines",
      "LongEval's lines: the number under a two-word name (LongChat, CREAM)",
      {WholeNumberParameter("lines", "lines in the record", 1, most, 200),
       ChoiceParameter("score",
                       "which integer of the generated text counts: the last (LongChat, 100 "
                       "new tokens) or the first (CREAM, 35)",
                       {"last", "first"}),
       WholeNumberParameter(
           "final_space", "1: the prompt ends in a space, as LongEval's files of 200 to 680 lines",
           0, 1, 0)}};
  type.make = MakeSpecTask<LinesTask>;
  return type;
}

}  // namespace midscope
