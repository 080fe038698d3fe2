// SPDX-License-Identifier: MIT
#include "probes/sweep_sample.h"

#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/what_if.h"
#include "probes/record_axes.h"

namespace midscope {
namespace {

void AddPlaceArrays(const std::vector<Prompt>& prompts, Record& record) {
  std::vector<int64_t> tokens;
  std::vector<int64_t> answer_tokens;
  std::vector<int64_t> gold_begin;
  std::vector<int64_t> gold_end;
  for (const Prompt& prompt : prompts) {
    const Span* gold = prompt.FindSpan("gold");
    tokens.push_back(static_cast<int64_t>(prompt.ids.size()));
    answer_tokens.push_back(static_cast<int64_t>(prompt.answer_ids.size()));
    gold_begin.push_back(gold ? gold->token_begin : 0);
    gold_end.push_back(gold ? gold->token_end : 0);
  }
  const std::vector<std::string> axes = {"place"};
  record.arrays.push_back({"prompt_tokens", axes, tokens, "tokens", "length of the prompt"});
  record.arrays.push_back({"answer_tokens", axes, answer_tokens, "tokens", "length of the answer"});
  record.arrays.push_back(
      {"gold_token_begin", axes, gold_begin, "tokens", "first token of the gold piece"});
  record.arrays.push_back(
      {"gold_token_end", axes, gold_end, "tokens", "one past the gold piece's last token"});
}

void AddAttention(const ModelConfig& config, std::vector<float> attention, int64_t keys,
                  Record& record) {
  record.axes.push_back(CountedAxis("layer", config.layers));
  record.axes.push_back(CountedAxis("head", config.heads));
  record.axes.push_back(CountedAxis("key", keys));
  record.arrays.push_back({"last_query_attention",
                           {"layer", "head", "key"},
                           std::move(attention),
                           "",
                           "attention of the last prompt token: first setting, first place"});
}

template <typename T>
const std::vector<T>& DataOf(const Record& record, const std::string& name) {
  const Array* array = record.FindArray(name);
  const auto* data = array ? std::get_if<std::vector<T>>(&array->data) : nullptr;
  if (!data) {
    throw Failure("sweep file", "a stored sample lacks the array " + name,
                  "Run the sweep again into a new file");
  }
  return *data;
}

}  // namespace

double AnswerNll(const Prompt& prompt, const AnswerScore& score) {
  return prompt.answer_ids.empty() ? std::numeric_limits<double>::quiet_NaN() : score.nll;
}

Record OutcomeRecord(const std::vector<std::string>& settings, const std::vector<int64_t>& places,
                     std::vector<double> answer_nll, std::vector<uint8_t> correct) {
  Record record;
  record.name = "outcome";
  record.axes = {LabelledAxis("setting", settings), ValuedAxis("place", places)};
  record.axes.back().unit = "rank";
  const std::vector<std::string> axes = {"setting", "place"};
  record.arrays = {{"answer_nll", axes, std::move(answer_nll), "nats",
                    "negative log-likelihood of the answer, summed over its tokens"},
                   {"correct", axes, std::move(correct), "",
                    "whether the greedy continuation equals the answer"}};
  record.signal = "answer_nll";
  return record;
}

Record RunSample(const std::shared_ptr<const Decoder>& decoder, const SampleRequest& request,
                 const JobContext& context) {
  const size_t places = request.prompts.size();
  WhatIf what_if(decoder, request.prompts, request.trace_memory_bytes);
  std::vector<double> nll(request.settings.size() * places);
  std::vector<uint8_t> correct(nll.size());
  std::vector<float> attention;
  for (const size_t setting : EvaluationOrder(request.settings)) {
    const bool keep_attention = request.attention && setting == 0;
    WhatIfResult result =
        what_if.Evaluate(request.settings[setting].intervention, context, keep_attention);
    for (size_t place = 0; place < places; ++place) {
      nll[setting * places + place] =
          AnswerNll(request.prompts[place], result.outcomes[place].score);
      correct[setting * places + place] = result.outcomes[place].score.correct ? 1 : 0;
    }
    if (keep_attention) attention = std::move(result.outcomes.front().last_query_attention);
  }
  std::vector<std::string> labels;
  for (const SweepSetting& setting : request.settings) labels.push_back(setting.canonical());
  Record record = OutcomeRecord(labels, request.places, std::move(nll), std::move(correct));
  AddPlaceArrays(request.prompts, record);
  if (request.attention) {
    AddAttention(decoder->config(), std::move(attention),
                 static_cast<int64_t>(request.prompts.front().ids.size()), record);
  }
  return record;
}

SampleOutcome ReadOutcome(int64_t sample, const Record& record) {
  return {sample, DataOf<double>(record, "answer_nll"), DataOf<uint8_t>(record, "correct")};
}

}  // namespace midscope
