// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/sums.h"
#include "probes/base/attention_row.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

constexpr const char* kNullOption = "null-question";

PromptSpan RequireSpan(const Prompt& prompt, const std::string& name) {
  const PromptSpan* span = prompt.FindSpan(name);
  if (span) return *span;
  throw UsageError("probe 'qr_heads'", "the prompt has no passage '" + name + "'",
                   "Give --span gold=TEXT and --span question=TEXT, or take a task's prompt");
}

// Collects the attention to the gold passage's tokens, averaged over the prompt rows from the
// question on; [layer, head, gold token].
class QuestionAttention {
 public:
  QuestionAttention(const ModelConfig& config, const PromptSpan& gold, RowRange rows)
      : gold_(static_cast<size_t>(gold.token_end - gold.token_begin)),
        means_(static_cast<size_t>(config.layers * config.heads) * gold_),
        patterns_(rows, -1, [this, &config, gold, rows](auto layer, auto head, auto, auto row) {
          double* means = means_.data() + static_cast<size_t>(layer * config.heads + head) * gold_;
          const std::span<const float> on_gold =
              row.subspan(static_cast<size_t>(gold.token_begin), gold_);
          for (size_t i = 0; i < gold_; ++i)
            means[i] += on_gold[i] / static_cast<double>(rows.last - rows.first);
        }) {}

  Hook* hook() { return &patterns_; }
  std::span<const double> OfHead(size_t head) const {
    return std::span(means_).subspan(head * gold_, gold_);
  }

 private:
  size_t gold_;
  std::vector<double> means_;
  PatternRange patterns_;
};

// Returns the sum over gold tokens of the differences (question minus null question) that exceed
// their mean minus two standard deviations; for a single token, its difference.
double CalibratedSum(std::span<const double> question, std::span<const double> null_question) {
  std::vector<double> differences;
  for (size_t i = 0; i < question.size(); ++i)
    differences.push_back(question[i] - null_question[i]);
  if (differences.size() == 1) return differences.front();
  const auto count = static_cast<double>(differences.size());
  const double mean = Sum(differences) / count;
  double squares = 0;
  for (const double value : differences) squares += (value - mean) * (value - mean);
  const double lowest = mean - 2 * std::sqrt(squares / (count - 1));
  double sum = 0;
  for (const double value : differences) sum += value > lowest ? value : 0;
  return sum;
}

class QrProbe : public Probe {
 public:
  explicit QrProbe(const ProbeInput& input)
      : input_(input),
        config_(input.decoder.config()),
        gold_(RequireSpan(input.prompt, "gold")),
        question_(RequireSpan(input.prompt, "question")),
        attention_(config_, gold_, {question_.token_begin, input.prompt_tokens()}) {
    if (gold_.token_end > question_.token_begin) {
      throw UsageError("probe 'qr_heads'", "the question does not come after the gold passage",
                       "Use a prompt whose question follows its passages");
    }
    null_ids_ = NullIds();
  }

  std::vector<Hook*> Hooks() override { return {attention_.hook()}; }

  Record Finish(const RunResult&) override {
    const auto rows = static_cast<int64_t>(null_ids_.size());
    QuestionAttention null_attention(config_, gold_, {question_.token_begin, rows});
    RunRequest request;
    request.ids = null_ids_;
    request.intervention = input_.intervention;
    request.hooks = {null_attention.hook()};
    input_.decoder.RunOne(request, input_.context ? *input_.context : JobContext{});
    std::vector<double> scores;
    std::vector<double> of_question;
    std::vector<double> of_null;
    for (size_t head = 0; head < static_cast<size_t>(config_.layers * config_.heads); ++head) {
      const std::span<const double> question = attention_.OfHead(head);
      const std::span<const double> null_question = null_attention.OfHead(head);
      scores.push_back(CalibratedSum(question, null_question));
      of_question.push_back(Sum(question));
      of_null.push_back(Sum(null_question));
    }
    const std::vector<std::string> axes = {"layer", "head"};
    Record record;
    record.name = "qr_heads";
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads)};
    record.arrays = {{"qr_score", axes, std::move(scores), "",
                      "attention of the question on the gold less that of the null question, "
                      "summed over the gold's tokens without abnormally low ones"},
                     {"question_attention", axes, std::move(of_question), "",
                      "attention on the gold, mean over the rows from the question on"},
                     {"null_question_attention", axes, std::move(of_null), "",
                      "the same with the null question"}};
    record.attributes = {{"null_question", input_.options.Text(kNullOption)},
                         {"gold_tokens", gold_.token_end - gold_.token_begin}};
    record.signal = "qr_score";
    return record;
  }

 private:
  std::vector<int32_t> NullIds() const {
    const std::vector<int32_t>& ids = input_.prompt.ids;
    const std::vector<int32_t> null_question =
        input_.decoder.tokenizer().EncodeIds(input_.options.Text(kNullOption));
    std::vector<int32_t> all(ids.begin(), ids.begin() + question_.token_begin);
    all.insert(all.end(), null_question.begin(), null_question.end());
    all.insert(all.end(), ids.begin() + question_.token_end, ids.end());
    if (static_cast<int64_t>(all.size()) <= question_.token_begin) {
      throw UsageError("option --null-question", "no token is left of the question",
                       "Give a text, such as N/A");
    }
    return all;
  }

  const ProbeInput input_;
  const ModelConfig& config_;
  PromptSpan gold_;
  PromptSpan question_;
  QuestionAttention attention_;
  std::vector<int32_t> null_ids_;
};

}  // namespace

Record QrHeadsMean(const Record& stacked) {
  const auto samples = static_cast<size_t>(AxisOf(stacked, "sample").size);
  const auto places = static_cast<size_t>(AxisOf(stacked, "place").size);
  const std::vector<double> by_place =
      MeanOverSamples(ArrayValues<double>(stacked, "qr_score"), samples);
  Record record;
  record.name = "qr_heads_mean";
  record.axes = {AxisOf(stacked, "place"), AxisOf(stacked, "layer"), AxisOf(stacked, "head")};
  record.arrays = {{"mean_qr_score",
                    {"layer", "head"},
                    MeanOverSamples(by_place, places),
                    "",
                    "qr_score, mean over prompts"},
                   {"qr_score_by_place",
                    {"place", "layer", "head"},
                    by_place,
                    "",
                    "qr_score by place, mean over samples"}};
  record.signal = "mean_qr_score";
  return record;
}

ProbeType QrHeadsProbe() {
  ProbeType type;
  type.name = "qr_heads";
  type.summary =
      "heads by which the question looks at the gold more than a question without content does";
  type.source =
      "Zhang et al., 'Query-focused retrieval heads improve long-context reasoning and "
      "re-ranking', arXiv 2506.09944; its code: attn_retriever.py";
  type.departures =
      "the code scores documents and their titles, and sums a document one token further; here it "
      "is the passage 'gold'. Its query starts at the instruction behind the documents, here at "
      "the passage 'question'; both end with the prompt. The null question replaces the question's "
      "tokens, not its text. A gold of one token is never dropped";
  type.limits =
      "heads are query heads (GQA). A layer with a sliding window sees no gold beyond it. The null "
      "question is a run of its own, whose ratios (ms-poe) are its own; passages of edits behind "
      "the question would be displaced in it";
  type.options = {TextParameter(kNullOption, "the question without content, of qr_heads")};
  type.options.front().default_value = std::string("N/A");
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<QrProbe>(input); };
  type.summarise = [](const Record& stacked) { return std::vector{QrHeadsMean(stacked)}; };
  return type;
}

}  // namespace midscope
