// SPDX-License-Identifier: MIT
#include "probes/sweep/place_arrays.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record_names.h"

namespace midscope {

namespace {

std::string QuestionText(const Prompt& prompt) {
  const PromptSpan* question = prompt.FindSpan("question");
  if (!question) return "";
  return prompt.text.substr(static_cast<size_t>(question->byte_begin),
                            static_cast<size_t>(question->byte_end - question->byte_begin));
}

}  // namespace

void AddPlaceArrays(const std::vector<TaskQuestion>& questions, Record& record) {
  std::vector<int64_t> tokens;
  std::vector<int64_t> answer_tokens;
  std::vector<int64_t> gold_begin;
  std::vector<int64_t> gold_end;
  std::vector<int64_t> gold_rank;
  std::vector<uint8_t> cut;
  std::vector<std::string> question_texts;
  std::vector<std::string> answer_texts;
  std::vector<std::string> expected;
  for (const TaskQuestion& question : questions) {
    const Prompt& prompt = question.prompt;
    const PromptSpan* gold = prompt.FindSpan("gold");
    tokens.push_back(static_cast<int64_t>(prompt.ids.size()));
    answer_tokens.push_back(static_cast<int64_t>(prompt.answer_ids.size()));
    const int64_t none = question.sample.gold_cut ? -1 : 0;
    gold_begin.push_back(gold ? gold->token_begin : none);
    gold_end.push_back(gold ? gold->token_end : none);
    gold_rank.push_back(question.sample.gold_rank);
    cut.push_back(question.sample.cut.value_or(false) ? 1 : 0);
    question_texts.push_back(QuestionText(prompt));
    answer_texts.push_back(prompt.answer);
    expected.push_back(nlohmann::ordered_json(question.sample.answers).dump());
  }
  const std::vector<std::string> axes = {"place"};
  record.arrays.push_back({"prompt_tokens", axes, tokens, "tokens", "length of the prompt"});
  record.arrays.push_back({kAnswerTokens, axes, answer_tokens, "tokens", "length of the answer"});
  record.arrays.push_back(
      {kGoldTokenBegin, axes, gold_begin, "tokens", "first token of the gold piece"});
  record.arrays.push_back(
      {"gold_token_end", axes, gold_end, "tokens", "one past the gold piece's last token"});
  if (questions.front().sample.gold_rank > 0) {
    record.arrays.push_back({kGoldRank, axes, std::move(gold_rank), "rank",
                             "1-based rank of the gold piece among the pieces of this prompt"});
  }
  if (questions.front().sample.cut) {
    record.arrays.push_back(
        {kPromptCut, axes, std::move(cut), "", "whether the prompt was cut to the task's tokens"});
  }
  record.arrays.push_back({kQuestionText, axes, std::move(question_texts), "",
                           "the question in the prompt; empty where the task marks none"});
  record.arrays.push_back({kAnswerText, axes, std::move(answer_texts), "",
                           "the answer whose likelihood is scored, as it follows the prompt"});
  record.arrays.push_back({kExpectedAnswers, axes, std::move(expected), "",
                           "what generated text is scored against: a JSON list of texts"});
  std::string group;
  for (const std::string& name : questions.front().sample.groups) {
    group += (group.empty() ? "" : "/") + name;
  }
  if (group.empty()) return;
  record.arrays.push_back({kSampleGroup, axes, std::vector<std::string>(questions.size(), group),
                           "", "the sample's data set, with the group that it is in"});
}

PatchPrompts SourcePromptsOf(const SampleRequest& request) {
  const auto at_place = [&request](int64_t place, int64_t samples_on) {
    const auto found = std::find(request.places.begin(), request.places.end(), place);
    if (found != request.places.end() && samples_on == 0)
      return request.questions[static_cast<size_t>(found - request.places.begin())].prompt;
    if (request.prompt_at) return request.prompt_at(place, samples_on);
    throw UsageError("patch", "the sample is not known at place " + std::to_string(place),
                     "Take values from a place that is run");
  };
  return {at_place, request.source_prompts};
}

std::vector<double> SourceNll(const SampleRequest& request, PatchSources& sources,
                              const JobContext& context) {
  std::vector<double> nll;
  for (const SweepSetting& setting : request.settings) {
    const auto* patch = setting.intervention.Find<Patch>();
    if (!patch) continue;
    for (const TaskQuestion& question : request.questions) {
      if (question.prompt.answer_ids.empty()) return {};
      nll.push_back(sources.ScoreOf(patch->source, question.prompt, context).nll);
    }
    return nll;
  }
  return nll;
}

}  // namespace midscope
