// SPDX-License-Identifier: MIT
#include "probes/engine/what_if_records.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/plan/attention_plan.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/probes.h"
#include "probes/prompt/prompt_fits.h"
#include "probes/prompt/prompt_record.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {
namespace {

// Number of likeliest next tokens that a what-if lists.
constexpr int64_t kNextTokens = 10;

// Makes record hidden_channels of the prompt's rows from a trace of all layers.
Record KeptChannels(const ModelConfig& config, const Trace& trace,
                    const std::vector<int64_t>& channels, int64_t tokens) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(config.layers * tokens) * channels.size());
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    for (const int64_t channel : channels) {
      // The output of a layer is the input of the next one, which the trace stores.
      const std::vector<float> rows = trace.Channel(layer + 1, channel);
      values.insert(values.end(), rows.begin(), rows.begin() + tokens);
    }
  }
  return HiddenChannelsRecord(config, channels, tokens, std::move(values));
}

}  // namespace

Record OutcomeOverPlaces(const WhatIfSource& source, const Intervention& intervention,
                         const WhatIfResult& result) {
  std::vector<double> nll;
  std::vector<uint8_t> correct;
  for (size_t i = 0; i < result.outcomes.size(); ++i) {
    const AnswerScore& score = result.outcomes[i].score;
    nll.push_back(AnswerNll(source.prompts[i], score));
    correct.push_back(score.correct ? 1 : 0);
  }
  Record outcome = OutcomeRecord({SweepSetting{"", intervention}.canonical()}, source.places,
                                 std::move(nll), std::move(correct));
  const bool beyond =
      std::any_of(source.prompts.begin(), source.prompts.end(), [&](const Prompt& prompt) {
        return PromptIsBeyondContext(source.decoder.config(), prompt, intervention);
      });
  if (beyond) outcome.attributes["beyond_context"] = int64_t{1};
  return outcome;
}

void NameSetting(const Intervention& intervention, Record& outcome) {
  for (Axis& axis : outcome.axes) {
    if (axis.name == "setting") axis.labels = {SweepSetting{"", intervention}.canonical()};
  }
}

std::optional<double> LargestNoise(const WhatIfResult& result) {
  std::optional<double> largest;
  for (const WhatIfOutcome& outcome : result.outcomes) {
    if (outcome.noise) largest = std::max(largest.value_or(0), *outcome.noise);
  }
  return largest;
}

std::vector<Record> RecordsOfPlace(const WhatIfSource& source, const WhatIfRequest& request,
                                   WhatIfOutcome outcome, int64_t layers_done, const Trace* trace) {
  const ModelConfig& config = source.decoder.config();
  const auto tokens = static_cast<int64_t>(source.prompts[request.place].ids.size());
  const bool whole = layers_done == config.layers;
  std::vector<Record> records;
  if (request.attention) {
    records.push_back(
        LastQueryAttentionRecord(config, tokens, std::move(outcome.last_query_attention)));
  }
  const kernels::AwarenessThreshold threshold = AwarenessRule(request.intervention);
  records.push_back(
      PositionAwarenessRecord(config, threshold, std::move(outcome.position_awareness)));
  if (request.attention && !outcome.counted_keys.empty()) {
    records.push_back(
        CountedKeysRecord(config, tokens, threshold, std::move(outcome.counted_keys)));
  }
  if (whole && !request.channels.empty() && trace && trace->first_layer() == 0)
    records.push_back(KeptChannels(config, *trace, request.channels, tokens));
  records.push_back(PositionRatioRecord(outcome.position_ratio));
  if (whole) {
    std::vector<Record> answer = AnswerRecordsOf(source, request.place, outcome);
    std::move(answer.begin(), answer.end(), std::back_inserter(records));
    return records;
  }
  for (Record& record : records) record.attributes[kLayersDone] = layers_done;
  return records;
}

std::vector<Record> AnswerRecordsOf(const WhatIfSource& source, size_t place,
                                    const WhatIfOutcome& outcome) {
  const Prompt& prompt = source.prompts[place];
  std::vector<Record> records = {NextTokensRecord(source.decoder.tokenizer(), outcome.last_logits,
                                                  kNextTokens, prompt.answer_ids)};
  if (!prompt.answer_ids.empty()) records.push_back(AnswerRecord(prompt, outcome.score));
  return records;
}

WhatIfCost CostOf(const WhatIfResult& result) {
  return {.seconds = result.seconds,
          .last_rows_only = result.last_rows_only,
          .first_layer = result.first_layer,
          .first_row = result.first_row,
          .share = result.share,
          .kept_bytes = result.kept.bytes,
          .kept_limit = result.kept.limit,
          .first_kept_layer = result.kept.first_layer};
}

WhatIfCost CostOfKnown(const WhatIfCost& cost, int64_t layers, double seconds) {
  WhatIfCost known = cost;
  known.seen_before = true;
  known.seconds = seconds;
  known.first_layer = layers;
  known.first_row = 0;
  known.share = 0;
  return known;
}

}  // namespace midscope
