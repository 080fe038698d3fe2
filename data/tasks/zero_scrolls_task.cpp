// SPDX-License-Identifier: MIT
// ZeroSCROLLS (Shaham et al. 2023, arXiv 2305.14196) over one of its JSONL files. There is one
// place, because the evidence for the answer is spread over the document.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "core/base/utf8.h"
#include "data/formats/json_lines.h"
#include "data/tasks/prompt_text.h"
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
  std::string separator;  // replaces the part that is cut off the document
  size_t query_begin = 0;
  std::vector<ByteSpan> spans;
  std::vector<std::string> answers;
};

// Returns the offset of the byte at which a character begins; the files count characters as Python
// does.
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

class ZeroScrollsTask : public Task {
 public:
  ZeroScrollsTask(const TaskSpec& spec, const TaskInputs& inputs)
      : name_(TaskSpecText(spec)),
        metric_(kScrollsSets.at(spec.Choice("dataset")).metric),
        tokens_(spec.Number("tokens")) {
    if (tokens_ > 0) {
      count_ = NeedCounter(inputs.count_tokens, name_);
      ends_ = NeedEnds(inputs.token_ends, name_);
    }
    ForEachJsonLine(spec.file(), [&](const JsonFields& fields) {
      ScrollsItem item = ReadScrollsItem(fields);
      CheckAnswer(fields, item.answers.front());
      if (tokens_ > 0 && (item.separator.empty() || !fields.Find("query_start_index"))) {
        fields.Fail("has no truncation_seperator or query_start_index, by which a document is cut");
      }
      if (!items_.empty() && !item.id.empty() && items_.back().id == item.id) {
        items_.back().answers.push_back(item.answers.front());
      } else {
        items_.push_back(std::move(item));
      }
    });
  }

  std::string name() const override { return name_; }
  int64_t pieces() const override { return 1; }
  std::optional<int64_t> samples() const override { return static_cast<int64_t>(items_.size()); }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    constexpr int64_t kNewTokens = 1024;
    const ScrollsItem& item = items_[static_cast<size_t>(sample)];
    PromptText prompt;
    prompt.Add(item.input);
    TaskSample made = std::move(prompt).Sample(item.answers, place, 1);
    made.spans = item.spans;
    made.generation = {kNewTokens, AnswerCut::kWhole, metric_};
    if (tokens_ > 0) made.cut = count_(made.text) > tokens_;
    if (made.cut.value_or(false)) Trim(item, made);
    return made;
  }

 private:
  // Replaces the end of the document by the separator; keeps the query.
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

  // Rejects a bad answer now rather than after an hour's run.
  void CheckAnswer(const JsonFields& fields, const std::string& answer) const {
    const std::vector<std::string> answers = {answer};
    try {
      ScoreAnswer({0, AnswerCut::kWhole, metric_}, answer, answers);
    } catch (const Error& error) {
      fields.Fail(std::string("has an output that cannot be scored (") + error.what() + ")");
    }
  }

  std::string name_;
  AnswerMetric metric_;
  int64_t tokens_;
  TokenCounter count_;
  TokenEnds ends_;
  std::vector<ScrollsItem> items_;
};

}  // namespace

// Fields: id, input (the whole prompt), output, and the character offsets document_start_index,
// document_end_index, query_start_index, query_end_index of the spans "context" and "question".
// `tokens` other than 0 cuts a longer prompt as the public code does (process_model_input of
// experiments/hf/run_hf_model.py, github.com/tau-nlp/zero_scrolls): the query and, before it, the
// line's truncation_seperator (sic) stay, and as much of the document's beginning as fits. Unlike
// here, that code concatenates token ids rather than texts, and counts the end-of-text token of T5.
//
// Consecutive lines with the same id are one sample with several answers. 1024 new tokens are
// generated, as in the public code. The benchmark's table has the geometric mean of mean ROUGE
// scores (GeometricMeanOfMeans), which sweeps compute from the samples' ROUGE scores; the score of
// one sample is the geometric mean of its three ROUGE scores.
TaskType ZeroScrollsTaskType() {
  std::vector<std::string> names;
  names.reserve(kScrollsSets.size());
  for (const ScrollsSet& each : kScrollsSets) names.emplace_back(each.name);
  constexpr int64_t kMostTokens = 1 << 20;
  Parameter tokens = WholeNumberParameter(
      "tokens", "longer prompts lose the end of their document; 0: they stay whole", 0, kMostTokens,
      0);
  tokens.always_stated = false;
  TaskType type = {"zeroscrolls",
                   "ZeroSCROLLS over one of its validation files",
                   {ChoiceParameter("dataset", "whose score is taken", names), std::move(tokens),
                    TaskFile("a JSONL file of ZeroSCROLLS (id, input, output)", true)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    return std::make_unique<ZeroScrollsTask>(spec, inputs);
  };
  return type;
}

}  // namespace midscope
