// SPDX-License-Identifier: MIT
// LongBench (Bai et al. 2023, arXiv 2308.14508) over one of its JSONL files or a folder of them.
// There is one place, because the evidence for the answer is spread over the context.
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "data/formats/json_lines.h"
#include "data/tasks/data_folder.h"
#include "data/tasks/longbench_formats.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

struct LongBenchItem {
  std::string input;
  std::string context;
  std::vector<std::string> answers;
  std::vector<std::string> classes;
  const LongBenchFormat* format = nullptr;
};

const LongBenchFormat* ReadLongBenchFormat(const JsonFields& fields) {
  const std::string dataset = fields.Text("dataset");
  const LongBenchFormat* format = FindLongBenchFormat(dataset);
  if (format) return format;
  std::vector<std::string> known;
  for (const LongBenchFormat& each : LongBenchFormats()) known.push_back(each.dataset);
  throw Failure(fields.thing(), "its dataset " + Quote(dataset) + " is not supported",
                KnownWordsHint(dataset, known));
}

LongBenchItem ReadLongBenchItem(const JsonFields& fields) {
  LongBenchItem item = {fields.Text("input"),
                        fields.Text("context"),
                        TextList(fields, "answers"),
                        {},
                        ReadLongBenchFormat(fields)};
  if (item.answers.empty()) fields.Fail("has no answers");
  if (fields.Find("all_classes")) item.classes = TextList(fields, "all_classes");
  if (item.format->generation.metric == AnswerMetric::kClasses && item.classes.empty()) {
    fields.Fail("has no all_classes");
  }
  return item;
}

// Returns the prompt of an item: the data set's template with {context} and {input} filled in.
// Braces in the inserted texts are not replaced.
PromptBuilder FillLongBench(const LongBenchItem& item) {
  PromptBuilder prompt;
  std::string_view rest = item.format->prompt;
  while (true) {
    const size_t brace = rest.find('{');
    prompt.Add(rest.substr(0, brace));
    if (brace == std::string_view::npos) return prompt;
    const bool context = rest.substr(brace).starts_with("{context}");
    if (context) {
      prompt.AddSpan("context", item.context);
    } else {
      prompt.AddSpan("question", item.input);
    }
    rest.remove_prefix(rest.find('}') + 1);
  }
}

std::vector<std::string> LongBenchFiles(const TaskSpec& spec) {
  return DataFiles(spec.file(), {".jsonl", ".jsonl.gz"});
}

class LongBenchTask : public SpecTask {
 public:
  LongBenchTask(const TaskSpec& spec, const TaskInputs& /*inputs*/) : SpecTask(spec) {
    std::vector<size_t> sizes;
    for (const std::string& file : LongBenchFiles(spec)) {
      std::vector<LongBenchItem>& items = sets_.emplace_back();
      ForEachJsonLine(
          file, [&](const JsonFields& fields) { items.push_back(ReadLongBenchItem(fields)); });
      sizes.push_back(items.size());
    }
    order_ = RoundRobin(sizes);
  }

  std::optional<int64_t> samples() const override { return std::ssize(order_); }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    const auto [set, number] = order_[static_cast<size_t>(sample)];
    const LongBenchItem& item = sets_[set][number];
    TaskSample made = FillLongBench(item).Sample(item.answers, place, 1);
    made.classes = item.classes;
    made.chat_template = item.format->chat_template;
    made.generation = item.format->generation;
    if (sets_.size() > 1) made.groups = {item.format->group, item.format->dataset};
    return made;
  }

 private:
  std::vector<std::vector<LongBenchItem>> sets_;  // [file][item]
  std::vector<std::pair<size_t, size_t>> order_;  // [sample]: indices of file and item
};

}  // namespace

// Fields of a line: input, context, answers, dataset, all_classes. `tokens` cuts longer prompts as
// the public code does (CutMiddle). The samples of a folder are the first item of every file, then
// the second of every file, and so on.
TaskType LongBenchTaskType() {
  TaskType type = {
      "longbench",
      "LongBench over one of its files; the prompts and scores are those of its data set",
      {MiddleCutParameter(true),
       TaskFile("a JSONL file of LongBench (input, context, answers, dataset), or a folder of them",
                true)}};
  type.make = MakeSpecTask<LongBenchTask>;
  type.cuts_middle = true;
  type.more_files = [](const TaskSpec& spec) {
    return std::filesystem::is_directory(spec.file()) ? LongBenchFiles(spec)
                                                      : std::vector<std::string>();
  };
  return type;
}

}  // namespace midscope
