// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_sample.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/timing.h"
#include "core/base/utf8.h"
#include "core/run/patch_sources.h"
#include "core/run/what_if.h"
#include "probes/base/records.h"
#include "probes/sweep/likelihood_prompts.h"
#include "probes/sweep/place_arrays.h"
#include "probes/sweep/sample_generation.h"
#include "probes/sweep/sweep_context.h"

namespace midscope {
namespace {

constexpr const char* kCorrect = "correct";
constexpr const char* kSourceNll = "source_nll";
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// Adds array last_query_attention. `ids`: the prompt's token ids, which label the keys.
void AddAttention(const Decoder& decoder, std::vector<float> attention,
                  const std::vector<int32_t>& ids, Record& record) {
  const ModelConfig& config = decoder.config();
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const int32_t id : ids) {
    tokens.push_back(DisplayText(decoder.tokenizer().TokenText(id)));
  }
  record.axes.push_back(CountedAxis("layer", config.layers));
  record.axes.push_back(CountedAxis("head", config.heads));
  record.axes.push_back(LabelledAxis("key", std::move(tokens)));
  record.arrays.push_back({kLastQueryAttention,
                           {"layer", "head", "key"},
                           std::move(attention),
                           "",
                           "attention of the last prompt token: first setting, first place"});
}

template <typename T>
std::vector<T> DataOf(const Record& record, const std::string& name) {
  const Array* array = record.FindArray(name);
  if (!array) return {};
  if (const auto* data = std::get_if<std::vector<T>>(&array->data)) return *data;
  throw Failure("sweep file", "the array " + name + " of a stored sample has another type",
                "Run the sweep again into a new file");
}

LikelihoodArrays RunLikelihood(const std::shared_ptr<const Decoder>& decoder,
                               const SampleRequest& request, const RunnableSettings& settings,
                               const std::shared_ptr<PatchSources>& sources,
                               const JobContext& context, std::vector<double>& seconds) {
  const size_t places = request.questions.size();
  const LikelihoodPrompts prompts(request.questions);
  WhatIf what_if(decoder, prompts.all(), request.trace_memory_bytes);
  what_if.TakePatchesFrom(sources);
  LikelihoodArrays own;
  const bool continues = request.together && request.unfinished;
  LikelihoodArrays& arrays = continues ? *request.unfinished : own;
  arrays.nll.resize(request.settings.size() * places, kNotMeasured);
  arrays.correct.resize(arrays.nll.size());
  arrays.choice_nll.resize(arrays.nll.size() * prompts.choices(), kNotMeasured);
  arrays.runs.resize(request.settings.size());
  const auto keep = [&](size_t setting, size_t prompt, const WhatIfOutcome& outcome) {
    ++arrays.runs[setting];
    const size_t place = prompts.PlaceOf(prompt);
    const TaskQuestion& question = request.questions[place];
    const size_t cell = setting * places + place;
    prompts.TakeChoices(
        prompt, outcome,
        std::span(arrays.choice_nll).subspan(cell * prompts.choices(), prompts.choices()));
    if (!prompts.IsQuestion(prompt)) return;
    arrays.nll[cell] = AnswerNll(question.prompt, outcome.score);
    if (request.on_answer_nll) request.on_answer_nll(setting, place, arrays.nll[cell]);
    arrays.correct[cell] = outcome.score.correct ? 1 : 0;
  };
  if (request.together) {
    std::vector<Intervention> interventions;
    std::vector<size_t> missing;
    for (const size_t setting : settings.order) {
      if (arrays.runs[setting] == prompts.all().size()) continue;
      arrays.runs[setting] = 0;
      missing.push_back(setting);
      interventions.push_back(request.settings[setting].intervention);
    }
    what_if.EvaluateEach(
        interventions,
        [&](size_t index, size_t prompt, const WhatIfOutcome& outcome) {
          keep(missing[index], prompt, outcome);
        },
        context);
    arrays.source_nll = SourceNll(request, *sources, context);
    arrays.choice_score = ChoiceScores(request.questions, arrays.choice_nll);
    return arrays;
  }
  for (const size_t setting : settings.order) {
    const bool keep_attention = request.attention && setting == 0;
    const auto start = std::chrono::steady_clock::now();
    WhatIfResult result =
        what_if.Evaluate(request.settings[setting].intervention, context, keep_attention);
    seconds[setting] += SecondsSince(start);
    for (size_t prompt = 0; prompt < prompts.all().size(); ++prompt) {
      keep(setting, prompt, result.outcomes[prompt]);
    }
    if (keep_attention) {
      arrays.attention = std::move(result.outcomes.front().last_query_attention);
    }
  }
  arrays.choice_score = ChoiceScores(request.questions, arrays.choice_nll);
  return arrays;
}

Record OutcomeFrame(const std::vector<std::string>& settings, const std::vector<int64_t>& places) {
  Record record;
  record.name = kOutcomeRecord;
  record.axes = {LabelledAxis("setting", settings), ValuedAxis("place", places)};
  record.axes.back().unit = "rank";
  return record;
}

void AddLikelihood(LikelihoodArrays arrays, Record& record) {
  const std::vector<std::string> axes = {"setting", "place"};
  record.arrays.push_back({kAnswerNll, axes, std::move(arrays.nll), "nats",
                           "negative log-likelihood of the answer, summed over its tokens"});
  record.arrays.push_back({kCorrect, axes, std::move(arrays.correct), "",
                           "whether the greedy continuation equals the answer"});
  record.signal = kAnswerNll;
  if (!arrays.source_nll.empty()) {
    record.arrays.push_back(
        {kSourceNll,
         {"place"},
         std::move(arrays.source_nll),
         "nats",
         "answer_nll of the prompt's answer in the run that patches take from"});
  }
}

void AddSeconds(const RunnableSettings& settings, std::vector<double> seconds, Record& record) {
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (!settings.Has(i)) seconds[i] = kNotMeasured;
  }
  record.arrays.push_back({kSettingSeconds,
                           {"setting"},
                           std::move(seconds),
                           kSeconds,
                           "wall time of the setting's runs at all places, in evaluation order: "
                           "rows that an earlier setting left are not run again"});
}

constexpr const char* kPlaceAxis = "place";

// Returns, for each place, the index of its first equal place among the places that are run.
std::vector<size_t> RunIndices(const std::vector<size_t>& first) {
  std::vector<size_t> indices(first.size());
  size_t run = 0;
  for (size_t i = 0; i < first.size(); ++i) indices[i] = first[i] == i ? run++ : indices[first[i]];
  return indices;
}

}  // namespace

double AnswerNll(const Prompt& prompt, const AnswerScore& score) {
  return prompt.answer_ids.empty() ? kNotMeasured : score.nll;
}

Record OutcomeRecord(const std::vector<std::string>& settings, const std::vector<int64_t>& places,
                     std::vector<double> answer_nll, std::vector<uint8_t> correct) {
  Record record = OutcomeFrame(settings, places);
  AddLikelihood({std::move(answer_nll), std::move(correct), {}, {}, {}, {}, {}}, record);
  return record;
}

Record RunSample(const std::shared_ptr<const Decoder>& decoder, const SampleRequest& request,
                 const JobContext& context) {
  const std::vector<size_t> first = FirstEqualPlaces(request.questions);
  if (HasRepeatedPlaces(first)) {
    return WithRepeatedPlaces(RunSample(decoder, WithoutRepeatedPlaces(request, first), context),
                              request.places, first);
  }
  const ModelConfig& config = decoder->config();
  RunnableSettings settings;
  settings.failures = ContextFailures(request.questions, request.settings, request.score, config);
  CheckFits(settings.failures);
  const std::vector<size_t> usual = EvaluationOrder(request.settings);
  for (const size_t setting : request.order.empty() ? usual : request.order) {
    if (settings.Has(setting)) settings.order.push_back(setting);
  }
  std::vector<std::string> labels;
  for (const SweepSetting& setting : request.settings) labels.push_back(setting.canonical());
  Record record = OutcomeFrame(labels, request.places);
  const auto keys = static_cast<int64_t>(request.questions.front().prompt.ids.size());
  const auto sources = std::make_shared<PatchSources>(*decoder, SourcePromptsOf(request));
  std::vector<float> attention;
  std::vector<double> seconds(request.settings.size());
  if (request.score.likelihood || request.attention) {
    LikelihoodArrays arrays = RunLikelihood(decoder, request, settings, sources, context, seconds);
    attention = std::move(arrays.attention);
    if (request.score.likelihood) {
      AddChoices(request.questions, std::move(arrays.choice_score), std::move(arrays.choice_nll),
                 record);
      AddLikelihood(std::move(arrays), record);
    }
  }
  if (request.score.generation) {
    AddGeneration(RunGeneration(*decoder, request, settings, *sources, context, seconds), record);
  }
  AddPlaceArrays(request.questions, record);
  if (!request.together) AddSeconds(settings, std::move(seconds), record);
  if (request.attention) {
    // If the first setting was not run, its attention is filled with NaN.
    attention.resize(static_cast<size_t>(config.layers * config.heads * keys),
                     std::numeric_limits<float>::quiet_NaN());
    AddAttention(*decoder, std::move(attention), request.questions.front().prompt.ids, record);
  }
  AddContextArrays(request.questions, request.settings, settings.failures, request.score, config,
                   record);
  return record;
}

bool IsOutcome(const std::string& array) {
  return array == kAnswerNll || array == kCorrect || array == kChoiceCorrect ||
         array == kRightShare || array == kGenerationScore || array == kGenerationRouge ||
         array == kSettingFailure || array == kBeyondContext || array == kAnswerTokens ||
         array == kSourceNll || array == kSampleGroup || array == kGenerationCut ||
         array == kGenerationEmpty || array == kAnsweredPlace || array == kFirstPiecePlace ||
         array == kLastPiecePlace || array == kSettingSeconds || array == kPromptCut ||
         array == kGoldTokenBegin || array == kGoldRank;
}

SampleOutcome ReadOutcome(int64_t sample, const Record& record) {
  SampleOutcome outcome{sample,
                        DataOf<double>(record, kAnswerNll),
                        DataOf<uint8_t>(record, kCorrect),
                        DataOf<uint8_t>(record, kChoiceCorrect),
                        DataOf<double>(record, kGenerationScore),
                        DataOf<double>(record, kGenerationRouge),
                        DataOf<std::string>(record, kSettingFailure),
                        DataOf<uint8_t>(record, kBeyondContext),
                        DataOf<int64_t>(record, kAnswerTokens),
                        DataOf<double>(record, kSourceNll),
                        DataOf<uint8_t>(record, kGenerationCut),
                        DataOf<uint8_t>(record, kGenerationEmpty),
                        DataOf<int64_t>(record, kAnsweredPlace),
                        DataOf<int64_t>(record, kFirstPiecePlace),
                        DataOf<int64_t>(record, kLastPiecePlace),
                        DataOf<double>(record, kSettingSeconds)};
  outcome.prompt_cut = DataOf<uint8_t>(record, kPromptCut);
  if (!outcome.prompt_cut.empty())
    outcome.gold_token_begin = DataOf<int64_t>(record, kGoldTokenBegin);
  outcome.gold_rank = DataOf<int64_t>(record, kGoldRank);
  outcome.right_share = DataOf<double>(record, kRightShare);
  const std::vector<std::string> groups = DataOf<std::string>(record, kSampleGroup);
  if (!groups.empty()) outcome.group = groups.front();
  if (outcome.answer_nll.empty() && outcome.generation_score.empty()) {
    throw Failure("sweep file", "a stored sample lacks its outcome",
                  "Run the sweep again into a new file");
  }
  return outcome;
}

std::vector<SampleOutcome> ReadOutcomes(const std::vector<int64_t>& samples,
                                        const StoredSampleReader& read) {
  std::vector<SampleOutcome> outcomes;
  outcomes.reserve(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    outcomes.push_back(ReadOutcome(samples[i], read(i, IsOutcome)));
  }
  return outcomes;
}

std::vector<size_t> FirstEqualPlaces(const std::vector<TaskQuestion>& questions) {
  std::vector<size_t> first(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const TaskQuestion& question = questions[i];
    const auto equal = [&](const TaskQuestion& earlier) {
      return question.sample.gold_rank > 0 &&
             earlier.sample.gold_rank == question.sample.gold_rank &&
             earlier.prompt.ids == question.prompt.ids;
    };
    const auto end = questions.begin() + static_cast<std::ptrdiff_t>(i);
    first[i] = static_cast<size_t>(std::find_if(questions.begin(), end, equal) - questions.begin());
  }
  return first;
}

bool HasRepeatedPlaces(const std::vector<size_t>& first) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] != i) return true;
  }
  return false;
}

SampleRequest WithoutRepeatedPlaces(const SampleRequest& request,
                                    const std::vector<size_t>& first) {
  SampleRequest reduced = request;
  reduced.questions.clear();
  reduced.places.clear();
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] != i) continue;
    reduced.questions.push_back(request.questions[i]);
    reduced.places.push_back(request.places[i]);
  }
  if (!request.on_answer_nll) return reduced;
  reduced.on_answer_nll = [report = request.on_answer_nll, indices = RunIndices(first)](
                              size_t setting, size_t place, double answer_nll) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] == place) report(setting, i, answer_nll);
    }
  };
  return reduced;
}

Record WithRepeatedPlaces(Record record, const std::vector<int64_t>& places,
                          const std::vector<size_t>& first) {
  const std::vector<size_t> indices = RunIndices(first);
  for (Array& array : record.arrays) {
    const auto at = std::find(array.axes.begin(), array.axes.end(), kPlaceAxis);
    if (at == array.axes.end()) continue;
    size_t width = 1;
    for (auto inner = at + 1; inner != array.axes.end(); ++inner) {
      width *= static_cast<size_t>(record.FindAxis(*inner)->size);
    }
    const auto size = static_cast<size_t>(record.FindAxis(kPlaceAxis)->size);
    std::visit([&](auto& values) { values = TakeAlongAxis(values, size, width, indices); },
               array.data);
  }
  for (Axis& axis : record.axes) {
    if (axis.name != kPlaceAxis) continue;
    const std::string unit = axis.unit;
    axis = ValuedAxis(kPlaceAxis, places);
    axis.unit = unit;
  }
  return record;
}

}  // namespace midscope
