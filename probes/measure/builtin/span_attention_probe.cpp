// SPDX-License-Identifier: MIT
#include "core/base/text.h"
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "probes/base/attention_row.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"
#include "probes/measure/statistics/rank_statistics.h"

namespace midscope {
namespace {

// Returns the spans with the gold span first, so that span indices do not depend on its position,
// then the others in text order.
std::vector<PromptSpan> OrderedSpans(const Prompt& prompt) {
  std::vector<PromptSpan> spans = prompt.spans;
  if (spans.empty()) {
    throw UsageError("probe 'span_attention'", "the prompt has no named passages",
                     "Give --span NAME=TEXT, or take a task's prompt");
  }
  std::stable_sort(spans.begin(), spans.end(), [](const PromptSpan& a, const PromptSpan& b) {
    return a.token_begin < b.token_begin;
  });
  std::stable_partition(spans.begin(), spans.end(),
                        [](const PromptSpan& span) { return span.name == "gold"; });
  return spans;
}

class FoldedProbe : public Probe {
 public:
  explicit FoldedProbe(const ProbeInput& input)
      : config_(input.decoder.config()),
        spans_(OrderedSpans(input.prompt)),
        keys_(input.prompt_tokens()),
        sink_(std::min(input.options.Integer("sink-tokens"), keys_)),
        rows_(HookSite::kPattern, 1, [this](auto layer, auto head, auto, auto row) {
          Fold(layer * config_.heads + head, row);
        }) {
    const auto heads = static_cast<size_t>(config_.layers * config_.heads);
    for (auto* table : {&centre_, &centre_after_sink_, &entropy_, &sink_mass_}) {
      table->resize(heads);
    }
    sums_.resize(heads * spans_.size());
  }

  std::vector<Hook*> Hooks() override { return {&rows_}; }

  Record Finish(const RunResult&) override {
    Record record;
    record.name = "span_attention";
    std::vector<std::string> names = NamesIn(spans_);
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads),
                   LabelledAxis("span", names)};
    std::vector<int64_t> begins;
    begins.reserve(spans_.size());
    for (const PromptSpan& span : spans_) begins.push_back(span.token_begin);
    record.arrays = {
        {"span_first_token", {"span"}, std::move(begins), "", "token at which a passage begins"},
        {"span_attention_sum",
         {"layer", "head", "span"},
         sums_,
         "",
         "attention of the last prompt token on a passage, summed over its tokens"},
        {"span_attention_mean",
         {"layer", "head", "span"},
         Means(),
         "",
         "the same, mean over the passage's tokens"},
        HeadArray("attention_centre", centre_, "tokens",
                  "centre of mass of the attention, all keys"),
        HeadArray("attention_centre_after_sink", centre_after_sink_, "tokens",
                  "centre of mass of the attention on the keys after the sink"),
        HeadArray("attention_entropy", entropy_, "nats", "entropy of the attention row"),
        HeadArray("sink_mass", sink_mass_, "", "attention on the first sink_tokens tokens")};
    record.attributes = {{"sink_tokens", sink_}, {"keys", keys_}};
    record.signal = "span_attention_sum";
    if (spans_.front().name == "gold") AddGold(record);
    return record;
  }

 private:
  void Fold(int64_t at, std::span<const float> row) {
    const auto index = static_cast<size_t>(at);
    for (size_t s = 0; s < spans_.size(); ++s) {
      sums_[index * spans_.size() + s] =
          AttentionSum(row, spans_[s].token_begin, spans_[s].token_end);
    }
    centre_[index] = AttentionCentre(row);
    centre_after_sink_[index] = AttentionCentre(row, sink_);
    entropy_[index] = AttentionEntropy(row);
    sink_mass_[index] = AttentionSum(row, 0, sink_);
  }

  std::vector<double> Means() const {
    std::vector<double> means = sums_;
    for (size_t i = 0; i < means.size(); ++i) {
      const PromptSpan& span = spans_[i % spans_.size()];
      means[i] /= static_cast<double>(span.token_end - span.token_begin);
    }
    return means;
  }

  void AddGold(Record& record) const {
    const PromptSpan& gold = spans_.front();
    const double share =
        static_cast<double>(gold.token_end - gold.token_begin) / static_cast<double>(keys_);
    std::vector<double> on_gold;
    std::vector<double> over_uniform;
    on_gold.reserve(sums_.size() / spans_.size());
    over_uniform.reserve(sums_.size() / spans_.size());
    for (size_t i = 0; i < sums_.size(); i += spans_.size()) {
      on_gold.push_back(sums_[i]);
      over_uniform.push_back(sums_[i] / share);
    }
    record.arrays.push_back(
        HeadArray("gold_attention", on_gold, "", "attention on the gold passage, summed"));
    record.arrays.push_back(HeadArray("gold_over_uniform", over_uniform, "",
                                      "that over what even attention would give the passage"));
    record.attributes["gold_token_begin"] = gold.token_begin;
    record.attributes["gold_token_end"] = gold.token_end;
  }

  static Array HeadArray(const std::string& name, std::vector<double> values,
                         const std::string& unit, const std::string& description) {
    return {name, {"layer", "head"}, std::move(values), unit, description};
  }

  const ModelConfig& config_;
  std::vector<PromptSpan> spans_;
  int64_t keys_;
  int64_t sink_;
  PatternRows rows_;
  std::vector<double> sums_;  // [layer, head, span]
  std::vector<double> centre_;
  std::vector<double> centre_after_sink_;
  std::vector<double> entropy_;
  std::vector<double> sink_mass_;
};

// Returns one head's values, [sample][place], from values [sample, place, layer, head].
std::vector<double> OfHead(const std::vector<double>& values, size_t samples, size_t places,
                           size_t heads, size_t head) {
  std::vector<double> out;
  out.reserve(samples * places);
  for (size_t run = 0; run < samples * places; ++run) out.push_back(values[run * heads + head]);
  return out;
}

// Adds the attention on every passage by its rank in the text, if all prompts have the same number.
void AddPassageMeans(const Record& stacked, size_t samples, Record& record) {
  const Axis* spans = stacked.FindAxis("span");
  if (!spans || !stacked.FindArray("span_first_token")) return;
  if (stacked.FindArray("span_count")) {
    const auto& counts = ArrayValues<int64_t>(stacked, "span_count");
    if (std::any_of(counts.begin(), counts.end(), [&](auto n) { return n != spans->size; })) return;
  }
  const auto& begins = ArrayValues<int64_t>(stacked, "span_first_token");  // [sample, place, span]
  std::vector<double> by_rank = ArrayValues<double>(stacked, "span_attention_sum");
  const auto count = static_cast<size_t>(spans->size);
  const size_t prompts = begins.size() / count;
  const size_t heads = by_rank.size() / begins.size();
  for (size_t prompt = 0; prompt < prompts; ++prompt) {
    std::vector<std::pair<int64_t, size_t>> order;  // first token and index of each span
    for (size_t s = 0; s < count; ++s) order.emplace_back(begins[prompt * count + s], s);
    std::sort(order.begin(), order.end());
    for (size_t head = 0; head < heads; ++head) {
      const auto row = std::span(by_rank).subspan((prompt * heads + head) * count, count);
      const std::vector<double> before(row.begin(), row.end());
      for (size_t rank = 0; rank < count; ++rank) row[rank] = before[order[rank].second];
    }
  }
  record.axes.push_back(CountedAxis("passage", spans->size));
  record.arrays.push_back({"mean_passage_attention",
                           {"place", "layer", "head", "passage"},
                           MeanOverSamples(by_rank, samples),
                           "",
                           "attention on each named passage in the order of the text, summed over "
                           "its tokens, by place, mean over samples"});
}

}  // namespace

Record GoldFollowing(const Record& stacked) {
  const Axis& place_axis = AxisOf(stacked, "place");
  const auto samples = static_cast<size_t>(AxisOf(stacked, "sample").size);
  const auto places = static_cast<size_t>(place_axis.size);
  const auto& gold = ArrayValues<double>(stacked, "gold_attention");
  const auto& over_uniform = ArrayValues<double>(stacked, "gold_over_uniform");
  const auto& centre = ArrayValues<double>(stacked, "attention_centre_after_sink");
  const size_t heads = over_uniform.size() / (samples * places);
  const std::vector<double> mean_over = MeanOverSamples(over_uniform, samples);
  std::vector<double> least(heads, std::numeric_limits<double>::infinity());
  std::vector<double> correlation(heads);
  for (size_t head = 0; head < heads; ++head) {
    for (size_t p = 0; p < places; ++p) {
      least[head] = std::min(least[head], mean_over[p * heads + head]);
    }
    const std::vector<double> centres = OfHead(centre, samples, places, heads, head);
    std::vector<double> of_samples;
    for (size_t s = 0; s < samples; ++s) {
      of_samples.push_back(
          SpearmanCorrelation(std::span(centres).subspan(s * places, places), place_axis.values));
    }
    correlation[head] = MeanOfNumbers(of_samples);
  }
  const std::vector<std::string> by_place = {"place", "layer", "head"};
  Record record;
  record.name = "gold_following";
  record.axes = {place_axis, AxisOf(stacked, "layer"), AxisOf(stacked, "head")};
  record.arrays = {
      {"mean_gold_over_uniform", by_place, mean_over, "",
       "attention on the gold over its even share, by place, mean over samples"},
      {"mean_gold_attention", by_place, MeanOverSamples(gold, samples), "",
       "attention on the gold, by place, mean over samples (Ms-PoE, Fig. 4 and 6)"},
      HalfWidthOverSamples("mean_gold_attention", by_place, gold, samples),
      {"mean_attention_centre", by_place, MeanOverSamples(centre, samples), "tokens",
       "centre of mass after the sink, by place, mean over samples"},
      {"least_gold_over_uniform",
       {"layer", "head"},
       least,
       "",
       "at the place where it is least: above 1, the head sees the gold wherever it stands"},
      {"centre_place_correlation",
       {"layer", "head"},
       correlation,
       "",
       "Spearman's correlation of centre of mass and place within a sample, mean over samples: 1, "
       "the head follows the gold"}};
  record.signal = "mean_gold_over_uniform";
  AddPassageMeans(stacked, samples, record);
  return record;
}

ProbeType SpanAttentionProbe() {
  ProbeType type;
  type.name = "span_attention";
  type.summary =
      "the last token's attention by named passage, head by head; over places: does it follow the "
      "gold";
  type.source =
      "Ms-PoE, arXiv 2403.04797, Fig. 4 and 6 (attention on the key document by its place); the "
      "sink of 4 tokens: StreamingLLM, arXiv 2309.17453";
  type.departures =
      "Ms-PoE's figures show attention by token for chosen heads and give no number; sum, mean, "
      "centre of mass and the two measures of following are this program's";
  type.limits =
      "heads are query heads: those that share keys (GQA) are shown one by one. Rows are after "
      "rotation or ALiBi, as the model uses them; a layer with a sliding window gives 0 beyond it";
  type.options = {
      TokensParameter("sink-tokens", "how many first tokens count as the attention sink", 0, 4)};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<FoldedProbe>(input); };
  type.summarise = [](const Record& stacked) -> std::vector<Record> {
    if (!stacked.FindArray("gold_attention")) return {};
    return {GoldFollowing(stacked)};
  };
  return type;
}

}  // namespace midscope
