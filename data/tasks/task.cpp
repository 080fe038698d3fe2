// SPDX-License-Identifier: MIT
#include "data/tasks/task.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/tasks/haystack.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {

const std::vector<TaskType>& Tasks() {
#define MIDSCOPE_LIST_TASK(NAME) NAME##TaskType(),
  static const std::vector<TaskType> tasks = {MIDSCOPE_TASKS(MIDSCOPE_LIST_TASK)};
#undef MIDSCOPE_LIST_TASK
  return tasks;
}

namespace {

const TaskType& TypeOf(const TaskSpec& spec) {
  const std::vector<TaskType>& tasks = Tasks();
  return *std::find_if(tasks.begin(), tasks.end(),
                       [&spec](const TaskType& type) { return type.name == spec.task; });
}

}  // namespace

double ScoreGenerated(const TaskSample& sample, std::string_view generated) {
  return ScoreAnswer(sample.generation, generated, sample.answers, sample.classes);
}

int64_t AnsweredPiece(const TaskSample& sample, std::string_view generated) {
  if (sample.piece_answers.empty()) return 0;
  if (ScoreGenerated(sample, generated) >= 1) return sample.place;
  const std::string text = LowerText(CutAnswer(generated, sample.generation.cut));
  int64_t found = 0;
  std::pair<size_t, size_t> best;  // offset in the text, negative length
  for (size_t i = 0; i < sample.piece_answers.size(); ++i) {
    const std::string& answer = sample.piece_answers[i];
    const bool gold = static_cast<int64_t>(i) + 1 == sample.place;
    if (gold || ScoreAnswer(sample.generation, generated, {&answer, 1}, sample.classes) < 1)
      continue;
    const std::pair<size_t, size_t> at = {text.find(LowerText(answer)),
                                          std::string::npos - answer.size()};
    if (found != 0 && at >= best) continue;
    best = at;
    found = static_cast<int64_t>(i) + 1;
  }
  return found;
}

Error OnlyOnePlace(const Task& task, const std::string& thing) {
  std::string remedy = fmt::format("Give {}, the only one", task.first_place());
  if (task.name().starts_with("jsonl")) {
    remedy +=
        ". Lines have more if they state their gold document, or with --task "
        "jsonl:gold=answer,file=FILE (midscope help jsonl)";
  }
  return UsageError(thing, "task " + task.name() + " has one place, because no piece is moved",
                    remedy);
}

void CheckPlace(const Task& task, int64_t place) {
  const int64_t first = task.first_place();
  if (task.pieces() == 1 && place != first) {
    throw OnlyOnePlace(task, fmt::format("place {}", place));
  }
  if (place < first || place - first >= task.pieces()) {
    throw UsageError(fmt::format("place {}", place),
                     fmt::format("task {} has {} places", task.name(), task.pieces()),
                     fmt::format("Give a place from {} to {}", first, first + task.pieces() - 1));
  }
}

void CheckSample(const Task& task, int64_t sample) {
  const std::optional<int64_t> samples = task.samples();
  if (sample < 0 || (samples && sample >= *samples)) {
    throw UsageError(fmt::format("sample {}", sample),
                     "task " + task.name() + " has " +
                         (samples ? std::to_string(*samples) : "no negative") + " samples",
                     samples ? fmt::format("Ask for {} samples or fewer", *samples) : "");
  }
}

int64_t RankAtPercent(int64_t pieces, int64_t percent) {
  return 1 + (percent * (pieces - 1) + 50) / 100;
}

int64_t ReadPlace(const Task& task, std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (percent ? 1 : 0));
  int64_t number = 0;
  if (!ReadWhole(digits, number) || (percent && (number < 0 || number > 100))) {
    throw UsageError("place " + Quote(text), "it is not a place of task " + task.name(),
                     "Give an integer such as 5, or a share from 0% to 100%, such as 25%");
  }
  int64_t place = number;
  if (percent && task.by_depth()) place = number + 1;
  if (percent && !task.by_depth()) {
    place = RankAtPercent(task.pieces(), number) + task.first_place() - 1;
  }
  CheckPlace(task, place);
  return place;
}

std::unique_ptr<Task> MakeTask(std::string_view spec, uint64_t seed, const WordFilter& filter,
                               const TokenCounter& count_tokens, const TokenEnds& token_ends) {
  const TaskSpec parsed = ParseTaskSpec(spec, Tasks());
  const TaskType& type = TypeOf(parsed);
  const TaskInputs inputs = {seed, filter, count_tokens, token_ends};
  std::unique_ptr<Task> task = type.make(parsed, inputs);
  const int64_t tokens = type.cuts_middle ? parsed.Number("tokens") : 0;
  return tokens > 0 ? WithMiddleCut(std::move(task), tokens, inputs) : std::move(task);
}

std::string TaskInFull(std::string_view spec) { return TaskSpecText(ParseTaskSpec(spec, Tasks())); }

namespace {

// Returns the hash of a spec's files: parameter `file` hashed by `hash_file`, other files whole.
std::string FilesHash(std::string_view spec,
                      const std::function<std::string(const std::string&)>& hash_file) {
  const TaskSpec parsed = ParseTaskSpec(spec, Tasks());
  if (parsed.file().empty()) return "";
  const TaskType& type = TypeOf(parsed);
  const std::vector<std::string> more =
      type.more_files ? type.more_files(parsed) : std::vector<std::string>();
  std::string hash;
  if (!std::filesystem::is_directory(parsed.file())) {
    hash = hash_file(parsed.file());
  } else if (more.empty()) {
    const std::string text = ReadHaystack(parsed.file());
    return HashBytes(std::as_bytes(std::span(text)));
  }
  const auto add = [&hash](const std::string& path) {
    hash += HashFile(path);
    hash = HashBytes(std::as_bytes(std::span(hash)));
  };
  for (const Parameter& parameter : parsed.parameters.descriptions()) {
    const bool other = parameter.kind == ParameterKind::kFile && parameter.name != "file";
    if (other && !parsed.Path(parameter.name).empty()) add(parsed.Path(parameter.name));
  }
  for (const std::string& path : more) add(path);
  return hash;
}

}  // namespace

std::optional<int64_t> GrowingFileBytes(std::string_view spec) {
  const TaskSpec parsed = ParseTaskSpec(spec, Tasks());
  const std::string& file = parsed.file();
  if (!TypeOf(parsed).samples_are_lines || !file.ends_with(".jsonl")) return std::nullopt;
  return static_cast<int64_t>(std::filesystem::file_size(file));
}

std::string TaskFilesHash(std::string_view spec) {
  return FilesHash(spec, [](const std::string& path) { return HashFile(path); });
}

std::string TaskFilesHashOf(std::string_view spec, int64_t bytes) {
  return FilesHash(spec, [&](const std::string& path) { return HashFile(path, bytes); });
}

std::string TaskHelp() {
  std::string help;
  for (const TaskType& task : Tasks()) {
    help += task.name + ": " + task.summary + "\n";
    for (const Parameter& parameter : task.parameters) {
      std::string facts = FactsText(parameter);
      if (parameter.required) facts.insert(0, facts.empty() ? "must be given" : "must be given; ");
      help += "  " + parameter.name + ": " + parameter.help +
              (facts.empty() ? "" : " (" + facts + ")") + "\n";
    }
  }
  return help;
}

}  // namespace midscope
