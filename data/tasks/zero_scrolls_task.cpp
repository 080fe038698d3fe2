// SPDX-License-Identifier: MIT
// ZeroSCROLLS (Shaham et al. 2023, arXiv 2305.14196) over one of its JSONL files or a folder
// of them. There is one place, because the evidence for the answer is spread over the document.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/formats/json_lines.h"
#include "data/tasks/data_folder.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

struct ScrollsSet {
  const char* name;
  AnswerMetric metric;
};

constexpr std::array kScrollsSets = {
    ScrollsSet{"gov_report", AnswerMetric::kRougeGeometricMean},
    ScrollsSet{"summ_screen_fd", AnswerMetric::kRougeGeometricMean},
    ScrollsSet{"qmsum", AnswerMetric::kRougeGeometricMean},
    ScrollsSet{"squality", AnswerMetric::kRougeGeometricMean},
    ScrollsSet{"qasper", AnswerMetric::kF1},
    ScrollsSet{"narrative_qa", AnswerMetric::kF1},
    ScrollsSet{"musique", AnswerMetric::kF1},
    ScrollsSet{"quality", AnswerMetric::kChoiceLetter},
    ScrollsSet{"space_digest", AnswerMetric::kPercentageSimilarity},
    ScrollsSet{"book_sum_sort", AnswerMetric::kOrderConcordance},
};

struct ScrollsItem {
  std::string id;
  std::string input;
  std::string separator;  // text that replaces the cut end of the document
  size_t query_begin = 0;
  std::vector<ByteSpan> spans;
  std::vector<std::string> answers;
};

// Returns the byte offset of a character number. ZeroSCROLLS' files count characters, as Python.
int64_t ByteOfCharacter(std::string_view text, int64_t character) {
  int64_t seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (BeginsCharacter(text[i]) && seen++ == character) return static_cast<int64_t>(i);
  }
  return static_cast<int64_t>(text.size());
}

void AddScrollsSpan(const JsonFields& fields, const std::string& part, const std::string& name,
                    ScrollsItem& item) {
  const auto most = static_cast<int64_t>(item.input.size());
  const int64_t begin = Integer(fields, part + "_start_index", 0, most, -1);
  const int64_t end = Integer(fields, part + "_end_index", 0, most, -1);
  if (begin < 0 || end <= begin) return;
  item.spans.push_back(
      {name, ByteOfCharacter(item.input, begin), ByteOfCharacter(item.input, end)});
}

ScrollsItem ReadScrollsItem(const JsonFields& fields) {
  ScrollsItem item;
  item.id = fields.FindText("id").value_or("");
  item.input = fields.Text("input");
  item.separator = fields.FindText("truncation_seperator").value_or("");  // (sic)
  const auto most = static_cast<int64_t>(item.input.size());
  item.query_begin = static_cast<size_t>(
      ByteOfCharacter(item.input, Integer(fields, "query_start_index", 0, most, most)));
  const auto output = fields.FindText("output");
  if (!output) fields.Fail("has no output (only the validation files have it)");
  item.answers = {*output};
  AddScrollsSpan(fields, "document", "context", item);
  AddScrollsSpan(fields, "query", "question", item);
  return item;
}

// A data set of ZeroSCROLLS and the items read from its file.
struct ReadScrollsSet {
  const ScrollsSet* set = nullptr;
  std::vector<ScrollsItem> items = {};
};

constexpr const char* kByFileName = "by-file";

// Returns the data set that a path names: by the beginning of the file name ("gov_report.jsonl",
// "qmsum_validation.jsonl") or by the folder ("qasper/validation.jsonl"); null if there is none.
const ScrollsSet* SetOfPath(const std::filesystem::path& path) {
  const std::string file = LowerCase(path.filename().string());
  const std::string folder =
      LowerCase(std::filesystem::absolute(path).parent_path().filename().string());
  const auto is_named = [](const std::string& text, const std::string& name) {
    return text.starts_with(name) &&
           (text.size() == name.size() || text[name.size()] == '.' || text[name.size()] == '_');
  };
  for (const ScrollsSet& set : kScrollsSets) {
    if (is_named(file, set.name)) return &set;
  }
  for (const ScrollsSet& set : kScrollsSets) {
    if (file.starts_with("validation.") && folder == set.name) return &set;
  }
  return nullptr;
}

// Returns the files in a folder or its subfolders whose path names a data set, one per data set.
std::vector<std::string> ScrollsFiles(const std::string& folder) {
  std::map<std::string, std::string> by_set;
  const auto add = [&](const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    if (!name.ends_with(".jsonl") && !name.ends_with(".jsonl.gz")) return;
    const ScrollsSet* set = SetOfPath(path);
    if (!set) return;
    const auto [other, is_new] = by_set.emplace(set->name, path.string());
    if (is_new) return;
    throw Failure(folder, "two files are of " + std::string(set->name) + ": " +
                              Quote(other->second) + " and " + Quote(path.string()));
  };
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_directory()) {
      add(entry.path());
      continue;
    }
    for (const char* name : {"validation.jsonl", "validation.jsonl.gz"}) {
      if (std::filesystem::exists(entry.path() / name)) add(entry.path() / name);
    }
  }
  if (error) throw Failure(folder, "cannot be read: " + error.message());
  if (by_set.empty()) {
    throw Failure(folder, "the folder must contain files of ZeroSCROLLS",
                  "Name them by their data sets: gov_report.jsonl, qasper.jsonl, or "
                  "gov_report/validation.jsonl");
  }
  std::vector<std::string> files;
  for (const ScrollsSet& set : kScrollsSets) {
    const auto found = by_set.find(set.name);
    if (found != by_set.end()) files.push_back(found->second);
  }
  return files;
}

std::vector<std::string> ScrollsSetNames() { return NamesIn(kScrollsSets); }

// Returns the spec with parameter dataset set for a single file: as stated, or by the file's name.
TaskSpec WithScrollsSet(TaskSpec spec) {
  const bool is_stated = spec.parameters.Text("dataset") != kByFileName;
  const bool is_folder = IsFolder(spec.file());
  if (is_folder && is_stated) {
    throw UsageError("task '" + TaskSpecText(spec) + "'",
                     "the data sets of a folder are those of its files' names",
                     "Leave dataset= out, or give one file");
  }
  if (is_folder || is_stated) return spec;
  const ScrollsSet* set = SetOfPath(spec.file());
  if (!set) {
    throw UsageError("task '" + TaskSpecText(spec) + "'",
                     "the file's name does not begin with that of a data set",
                     "Add dataset= before file=: " + Joined(ScrollsSetNames(), " or "));
  }
  spec.parameters.Set("dataset", std::string(set->name));
  return spec;
}

class ZeroScrollsTask : public SpecTask {
 public:
  ZeroScrollsTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec), tokens_(spec.Number("tokens")) {
    if (tokens_ > 0) {
      count_ = NeedCounter(inputs.count_tokens, name_);
      ends_ = NeedEnds(inputs.token_ends, name_);
    }
    std::vector<size_t> sizes;
    if (IsFolder(spec.file())) {
      for (const std::string& file : ScrollsFiles(spec.file())) ReadSet(file, SetOfPath(file));
    } else {
      // Subtracts 1 because choice 0 is kByFileName.
      ReadSet(spec.file(), &kScrollsSets.at(spec.Choice("dataset") - 1));
    }
    sizes.reserve(sets_.size());
    for (const ReadScrollsSet& each : sets_) sizes.push_back(each.items.size());
    order_ = RoundRobin(sizes);
  }

  std::optional<int64_t> samples() const override { return std::ssize(order_); }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    constexpr int64_t kNewTokens = 1024;
    const auto [set, number] = order_[static_cast<size_t>(sample)];
    const ScrollsItem& item = sets_[set].items[number];
    PromptBuilder prompt;
    prompt.Add(item.input);
    TaskSample made = std::move(prompt).Sample(item.answers, place, 1);
    made.spans = item.spans;
    made.generation = {kNewTokens, AnswerCut::kWhole, sets_[set].set->metric};
    if (sets_.size() > 1) made.groups = {kZeroScrollsGroup, sets_[set].set->name};
    if (tokens_ > 0) made.cut = count_(made.text) > tokens_;
    if (made.cut.value_or(false)) Trim(item, made);
    return made;
  }

 private:
  // Shortens the prompt: replaces the end of the document by the separator; keeps the query.
  void Trim(const ScrollsItem& item, TaskSample& made) const {
    const std::string tail = item.separator + item.input.substr(item.query_begin);
    const std::string document = item.input.substr(0, item.query_begin);
    const int64_t room = std::max<int64_t>(0, tokens_ - count_(tail));
    const std::string kept = count_(document) <= room ? document : ends_(document, room, 0).first;
    const auto begin = static_cast<int64_t>(item.query_begin);
    const auto shift = static_cast<int64_t>(kept.size() + item.separator.size()) - begin;
    for (ByteSpan& span : made.spans) {
      const bool of_query = span.begin >= begin;
      span.begin = of_query ? span.begin + shift : std::min(span.begin, std::ssize(kept));
      span.end = of_query ? span.end + shift : std::min(span.end, std::ssize(kept));
    }
    std::erase_if(made.spans, [](const ByteSpan& span) { return span.begin >= span.end; });
    made.text = kept + tail;
  }

  void ReadSet(const std::string& file, const ScrollsSet* set) {
    std::vector<ScrollsItem>& items = sets_.emplace_back(ReadScrollsSet{set}).items;
    ForEachJsonLine(file, [&](const JsonFields& fields) {
      ScrollsItem item = ReadScrollsItem(fields);
      CheckAnswer(fields, set->metric, item.answers.front());
      if (tokens_ > 0 && (item.separator.empty() || !fields.Find("query_start_index"))) {
        fields.Fail("has no truncation_seperator or query_start_index, by which a document is cut");
      }
      if (!items.empty() && !item.id.empty() && items.back().id == item.id) {
        items.back().answers.push_back(item.answers.front());
      } else {
        items.push_back(std::move(item));
      }
    });
  }

  // Throws Error if the metric can't use an answer, so that a sweep does not fail later.
  static void CheckAnswer(const JsonFields& fields, AnswerMetric metric,
                          const std::string& answer) {
    const std::vector<std::string> answers = {answer};
    try {
      ScoreAnswer({0, AnswerCut::kWhole, metric}, answer, answers);
    } catch (const Error& error) {
      fields.Fail(std::string("has an output that cannot be scored (") + error.what() + ")");
    }
  }

  int64_t tokens_;
  TokenCounter count_;
  TokenEnds ends_;
  std::vector<ReadScrollsSet> sets_;
  std::vector<std::pair<size_t, size_t>> order_;  // [sample]: indices of set and item
};

}  // namespace

// Fields of a line: id, input (the whole prompt), output, and the character offsets
// document_start_index, document_end_index, query_start_index, query_end_index of the spans
// "context" and "question". `tokens` other than 0 cuts a longer prompt as the public code does
// (process_model_input of experiments/hf/run_hf_model.py, github.com/tau-nlp/zero_scrolls): the
// query and, before it, the line's truncation_seperator (sic) stay, and as much of the document's
// beginning as fits. Unlike here, that code concatenates token ids rather than texts, and counts
// the end-of-text token of T5.
//
// A folder has one file per data set, whose name or folder names the set; samples are the first
// item of every set, then the second of every set, and so on.
//
// Consecutive lines with the same id are one sample with several answers. 1024 new tokens are
// generated, as in the public code. The benchmark's table has the geometric mean of mean ROUGE
// scores, which sweeps compute from the samples' ROUGE scores; the score of
// one sample is the geometric mean of its three ROUGE scores.
TaskType ZeroScrollsTaskType() {
  std::vector<std::string> names = ScrollsSetNames();
  names.insert(names.begin(), kByFileName);
  constexpr int64_t kMostTokens = 1 << 20;
  Parameter tokens = WholeNumberParameter(
      "tokens", "longer prompts lose the end of their document; 0: they stay whole", 0, kMostTokens,
      0);
  tokens.always_stated = false;
  Parameter dataset = ChoiceParameter(
      "dataset", "whose score is taken; by-file: the name of the file says it", names);
  dataset.always_stated = false;
  TaskType type = {
      "zeroscrolls",
      "ZeroSCROLLS over one of its validation files, or a folder of them",
      {std::move(dataset), std::move(tokens),
       TaskFile("a JSONL file of ZeroSCROLLS (id, input, output), or a folder of them", true)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    return std::make_unique<ZeroScrollsTask>(WithScrollsSet(spec), inputs);
  };
  type.more_files = [](const TaskSpec& spec) {
    return IsFolder(spec.file()) ? ScrollsFiles(spec.file()) : std::vector<std::string>();
  };
  return type;
}

}  // namespace midscope
