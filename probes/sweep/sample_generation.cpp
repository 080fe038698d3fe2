// SPDX-License-Identifier: MIT
#include "probes/sweep/sample_generation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

#include "core/base/record_names.h"
#include "core/base/timing.h"
#include "core/intervention/passage.h"
#include "core/run/generate.h"
#include "data/tasks/data_folder.h"
#include "probes/base/records.h"
#include "probes/sweep/sweep_context.h"

namespace midscope {
namespace {

GreedyRequest GreedyRequestOf(const TaskQuestion& question, const Intervention& intervention,
                              Trace* trace) {
  const GenerationRule& rule = question.sample.generation;
  return {question.prompt.ids, ResolvePassages(intervention, question.prompt), rule.new_tokens,
          [cut = rule.cut](const std::string& text) { return AnswerIsWhole(text, cut); }, trace};
}

// Returns whether the pieces of every prompt have separate answers.
bool PiecesHaveAnswers(const SampleRequest& request) {
  return std::none_of(
      request.questions.begin(), request.questions.end(),
      [](const TaskQuestion& question) { return question.sample.piece_answers.empty(); });
}

// Returns the number of places per batch: as many as the memory for traces allows under every
// setting, at least one.
size_t PlacesAtOnce(const Decoder& decoder, const SampleRequest& request,
                    const RunnableSettings& settings, size_t begin) {
  TraceParts parts;  // including parts for channels, shared by settings
  for (const size_t setting : settings.order) {
    if (request.settings[setting].intervention.Find<InfiniAttention>())
      parts.memories = decoder.config().layers;
  }
  int64_t bytes = 0;
  size_t end = begin;
  for (; end < request.questions.size(); ++end) {
    const TaskQuestion& question = request.questions[end];
    bytes += decoder.TraceBytes(
        static_cast<int64_t>(question.prompt.ids.size()) + question.sample.generation.new_tokens,
        parts);
    if (end > begin && bytes > request.trace_memory_bytes) break;
  }
  return end;
}

// Stores the text of one cell and its scores.
void KeepGenerated(const Generated& made, const SampleRequest& request, size_t setting,
                   size_t place, GenerationArrays& arrays) {
  const TaskSample& sample = request.questions[place].sample;
  const GenerationRule& rule = sample.generation;
  const size_t cell = setting * request.questions.size() + place;
  const auto tokens = static_cast<int64_t>(made.ids.size());
  arrays.score[cell] = ScoreGenerated(sample, made.text);
  if (!arrays.rouge.empty()) {
    const double score = arrays.score[cell];
    const RougeScores rouge = rule.metric == AnswerMetric::kRougeGeometricMean
                                  ? RougeAnswer(rule, made.text, sample.answers)
                                  : RougeScores{score, score, score};
    const auto at = arrays.rouge.begin() + static_cast<std::ptrdiff_t>(cell * kRougeKinds);
    std::copy_n(std::array{rouge.rouge1, rouge.rouge2, rouge.rouge_l}.begin(), kRougeKinds, at);
  }
  arrays.tokens[cell] = tokens;
  arrays.text[cell] = made.text;
  const bool at_limit = !made.ended && tokens >= rule.new_tokens;
  arrays.cut[cell] = at_limit && !AnswerIsWhole(made.text, rule.cut) ? 1 : 0;
  arrays.empty[cell] = StripText(CutAnswer(made.text, rule.cut)).empty() ? 1 : 0;
  if (arrays.answered_place.empty()) return;
  const int64_t piece = AnsweredPiece(sample, made.text);
  if (piece > 0) arrays.answered_place[cell] = arrays.first_piece_place[place] + piece - 1;
}

// Generates under all settings at places [begin, end). Each place has one trace, which supplies the
// rows that a setting does not change.
void GenerateAt(const Decoder& decoder, const SampleRequest& request,
                const RunnableSettings& settings, size_t begin, size_t end, PatchSources& sources,
                const JobContext& context, std::vector<double>& seconds, GenerationArrays& arrays) {
  const bool channels =
      std::any_of(settings.order.begin(), settings.order.end(), [&](size_t setting) {
        return request.settings[setting].intervention.Find<ChannelScaling>() != nullptr;
      });
  std::vector<std::unique_ptr<Trace>> traces;
  traces.reserve(end - begin);
  for (size_t place = begin; place < end; ++place) {
    const TaskQuestion& question = request.questions[place];
    traces.push_back(GreedyTrace(decoder, static_cast<int64_t>(question.prompt.ids.size()),
                                 question.sample.generation.new_tokens, channels));
  }
  for (const size_t setting : settings.order) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<GreedyRequest> requests;
    requests.reserve(end - begin);
    for (size_t place = begin; place < end; ++place) {
      const TaskQuestion& question = request.questions[place];
      requests.push_back(GreedyRequestOf(
          question, sources.Give(request.settings[setting].intervention, question.prompt, context),
          traces[place - begin].get()));
    }
    const std::vector<Generated> generated = GenerateGreedy(decoder, requests, context);
    seconds[setting] += SecondsSince(start);
    for (size_t place = begin; place < end; ++place) {
      KeepGenerated(generated[place - begin], request, setting, place, arrays);
    }
  }
}

}  // namespace

GenerationArrays RunGeneration(const Decoder& decoder, const SampleRequest& request,
                               const RunnableSettings& settings, PatchSources& sources,
                               const JobContext& context, std::vector<double>& seconds) {
  const size_t places = request.questions.size();
  const size_t cells = request.settings.size() * places;
  const TaskSample& first_sample = request.questions.front().sample;
  // All samples of a file must have the same arrays: if some data sets of ZeroSCROLLS are scored by
  // ROUGE, the others store their score three times; the geometric mean of its means is its mean.
  const bool repeats =
      !first_sample.groups.empty() && first_sample.groups.front() == kZeroScrollsGroup;
  const bool has_rouge =
      repeats || first_sample.generation.metric == AnswerMetric::kRougeGeometricMean;
  const size_t rouge = has_rouge ? kRougeKinds : 0;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  GenerationArrays arrays;
  arrays.score.resize(cells, kNone);
  arrays.rouge.resize(cells * rouge, kNone);
  arrays.tokens.resize(cells);
  arrays.text.resize(cells);
  arrays.cut.resize(cells);
  arrays.empty.resize(cells);
  if (PiecesHaveAnswers(request)) {
    arrays.answered_place.resize(cells, kNoPlace);
    for (size_t place = 0; place < places; ++place) {
      const TaskSample& sample = request.questions[place].sample;
      // Tasks may count places from 0; a sample's ranks count from 1.
      const int64_t first = request.places[place] - sample.place + 1;
      arrays.first_piece_place.push_back(first);
      arrays.last_piece_place.push_back(first + static_cast<int64_t>(sample.piece_answers.size()) -
                                        1);
    }
  }
  for (size_t begin = 0; begin < places;) {
    const size_t end = PlacesAtOnce(decoder, request, settings, begin);
    GenerateAt(decoder, request, settings, begin, end, sources, context, seconds, arrays);
    begin = end;
  }
  return arrays;
}

void AddGeneration(GenerationArrays arrays, Record& record) {
  const std::vector<std::string> axes = {"setting", "place"};
  record.arrays.push_back({kGenerationScore, axes, std::move(arrays.score), "",
                           "the task's own score of the generated text, 0 to 1"});
  if (!arrays.rouge.empty()) {
    record.axes.push_back(LabelledAxis("rouge", {"rouge-1", "rouge-2", "rouge-l"}));
    record.arrays.push_back({kGenerationRouge,
                             {"setting", "place", "rouge"},
                             std::move(arrays.rouge),
                             "",
                             "F scores that generation_score is the geometric mean of, each the "
                             "best over the answers"});
  }
  record.arrays.push_back({"generated_tokens", axes, std::move(arrays.tokens), "tokens",
                           "length of the generated text; it ends where the rest can't count"});
  record.arrays.push_back(
      {"generated_text", axes, std::move(arrays.text), "", "what the model generated, greedily"});
  record.arrays.push_back({kGenerationCut, axes, std::move(arrays.cut), "",
                           "whether the limit of new tokens cut the answer"});
  record.arrays.push_back({kGenerationEmpty, axes, std::move(arrays.empty), "",
                           "whether nothing is in the part of the text that is scored"});
  if (!arrays.answered_place.empty()) {
    record.arrays.push_back({kAnsweredPlace, axes, std::move(arrays.answered_place), "rank",
                             "place of the piece whose answer the generated text gives; -1: none"});
    record.arrays.push_back({kFirstPiecePlace,
                             {"place"},
                             std::move(arrays.first_piece_place),
                             "rank",
                             "place of the first piece of the prompt"});
    record.arrays.push_back({kLastPiecePlace,
                             {"place"},
                             std::move(arrays.last_piece_place),
                             "rank",
                             "place of the last piece of the prompt"});
  }
  if (record.signal.empty()) record.signal = kGenerationScore;
}

}  // namespace midscope
