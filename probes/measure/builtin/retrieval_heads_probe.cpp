// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "probes/base/attention_row.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

constexpr const char* kScoreArrays[] = {"retrieval_score", "gold_top_share", "copied_gold_share"};

PromptSpan RequireGold(const Prompt& prompt) {
  const PromptSpan* gold = prompt.FindSpan("gold");
  if (!gold || prompt.answer_ids.empty()) {
    throw UsageError("probe 'retrieval_heads'",
                     gold ? "the prompt has no answer" : "the prompt has no passage 'gold'",
                     "Give --span gold=TEXT and --answer TEXT, or take a task's prompt");
  }
  return *gold;
}

class CopyingProbe : public Probe {
 public:
  explicit CopyingProbe(const ProbeInput& input)
      : config_(input.decoder.config()),
        prompt_(input.prompt),
        gold_(RequireGold(input.prompt)),
        first_query_(input.prompt_tokens() - 1),
        rows_(HookSite::kPattern, static_cast<int64_t>(prompt_.answer_ids.size()),
              [this](auto layer, auto head, auto query, auto row) {
                Score(heads_[static_cast<size_t>(layer * config_.heads + head)], query, row);
              }) {
    heads_.resize(static_cast<size_t>(config_.layers * config_.heads));
  }

  std::vector<Hook*> Hooks() override { return {&rows_}; }

  Record Finish(const RunResult&) override {
    const auto answer = static_cast<double>(prompt_.answer_ids.size());
    const auto gold = static_cast<double>(gold_.token_end - gold_.token_begin);
    std::vector<double> score;
    std::vector<double> top;
    std::vector<double> copied;
    for (auto* shares : {&score, &top, &copied}) shares->reserve(heads_.size());
    for (const Head& head : heads_) {
      score.push_back(static_cast<double>(head.copies) / answer);
      top.push_back(static_cast<double>(head.in_gold) / answer);
      copied.push_back(static_cast<double>(head.copied_keys.size()) / gold);
    }
    Record record;
    record.name = "retrieval_heads";
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads)};
    const std::vector<std::string> axes = {"layer", "head"};
    record.arrays = {
        {kScoreArrays[0], axes, score, "",
         "share of the answer's tokens that the head copies: its largest weight lies in the gold, "
         "on the token that comes next"},
        {kScoreArrays[1], axes, top, "",
         "share of the answer's tokens at which its largest weight lies in the gold"},
        {kScoreArrays[2], axes, copied, "",
         "tokens of the gold that the head copies, over the gold's tokens (arXiv 2404.15574)"}};
    record.attributes = {{"answer_tokens", static_cast<int64_t>(prompt_.answer_ids.size())},
                         {"gold_tokens", gold_.token_end - gold_.token_begin}};
    record.signal = kScoreArrays[0];
    return record;
  }

 private:
  struct Head {
    int64_t copies = 0;
    int64_t in_gold = 0;
    std::set<int64_t> copied_keys;
  };

  void Score(Head& head, int64_t query, std::span<const float> row) {
    const int64_t key = LargestKey(row);
    if (key < gold_.token_begin || key >= gold_.token_end) return;
    ++head.in_gold;
    // The row of query first_query_ + i predicts the answer's token i.
    const int32_t next = prompt_.answer_ids[static_cast<size_t>(query - first_query_)];
    if (prompt_.ids[static_cast<size_t>(key)] != next) return;
    ++head.copies;
    head.copied_keys.insert(key);
  }

  const ModelConfig& config_;
  const Prompt& prompt_;
  PromptSpan gold_;
  int64_t first_query_;
  std::vector<Head> heads_;  // [layer, head]
  PatternRows rows_;
};

Record MeanOverPrompts(const Record& stacked) {
  Record record;
  record.name = "retrieval_heads_mean";
  record.axes = {AxisOf(stacked, "layer"), AxisOf(stacked, "head")};
  const auto heads = static_cast<size_t>(record.axes[0].size * record.axes[1].size);
  for (const char* name : kScoreArrays) {
    const auto& values = ArrayValues<double>(stacked, name);
    std::vector<double> mean(heads);
    for (size_t i = 0; i < values.size(); ++i) {
      mean[i % heads] +=
          values[i] * static_cast<double>(heads) / static_cast<double>(values.size());
    }
    record.arrays.push_back({std::string("mean_") + name,
                             {"layer", "head"},
                             std::move(mean),
                             "",
                             std::string(name) + ", mean over prompts"});
  }
  record.signal = record.arrays.front().name;
  return record;
}

}  // namespace

ProbeType RetrievalHeadsProbe() {
  ProbeType type;
  type.name = "retrieval_heads";
  type.summary = "heads that copy the answer's tokens out of the gold passage";
  type.source =
      "Wu et al., 'Retrieval head mechanistically explains long-context factuality', "
      "arXiv 2404.15574";
  type.departures =
      "the paper and its code generate greedily, filter out incorrect answers, and divide "
      "the copies by the needle's tokens (the code counts a token copied twice twice); here the "
      "answer is teacher-forced, the score is per answer token, and distinct copies over the "
      "gold's tokens are given beside it";
  type.limits =
      "heads are query heads (GQA). Any positions will do; a layer with a sliding window cannot "
      "see a gold beyond it. The answer must occur in the gold with the same tokens";
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<CopyingProbe>(input); };
  type.summarise = [](const Record& stacked) {
    return std::vector<Record>{MeanOverPrompts(stacked)};
  };
  return type;
}

}  // namespace midscope
