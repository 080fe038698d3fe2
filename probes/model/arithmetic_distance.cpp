// SPDX-License-Identifier: MIT
#include "probes/model/arithmetic_distance.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/run/scoring.h"
#include "data/tasks/task.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

constexpr const char* kTask = "list:lines=20";
constexpr const char* kAnyTokenizersTask = "kv:pairs=10";  // its answers may have several tokens

struct Outcome {
  std::vector<float> last_logits;
  AnswerScore score;
};

std::vector<Outcome> OutcomesIn(const Arithmetic& arithmetic, const std::string& model,
                                DecoderOptions options, int64_t prompts,
                                const JobContext& context) {
  options.dtype = arithmetic.dtype;
  options.products = arithmetic.products;
  options.auto_dtype = false;
  const auto decoder = OpenDecoder(model, options, context);
  const bool has_items = FitsTokenizer(decoder->tokenizer(), kTask);
  const auto task =
      MakeTaskFor(decoder->tokenizer(), has_items ? kTask : kAnyTokenizersTask, /*seed=*/1);
  const std::vector<int64_t> places = DefaultPlaces(task->pieces());
  std::vector<Outcome> outcomes;
  for (int64_t sample = 0; sample < prompts; ++sample) {
    const int64_t place = places[static_cast<size_t>(sample) % places.size()];
    const Prompt prompt = TaskPrompts(decoder->tokenizer(), *task, {place}, sample).front();
    const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = static_cast<int64_t>(prompt.ids.size());
    const RunResult result = decoder->RunOne(request, context);
    const std::span<const float> last = result.Logits(request.prompt_tokens - 1);
    outcomes.push_back({{last.begin(), last.end()},
                        ScoreAnswer(result, request.prompt_tokens, prompt.answer_ids)});
  }
  return outcomes;
}

ArithmeticDistance DistanceOf(const std::vector<Outcome>& exact,
                              const std::vector<Outcome>& other) {
  ArithmeticDistance distance;
  distance.prompts = static_cast<int64_t>(exact.size());
  const auto prompts = static_cast<double>(exact.size());
  for (size_t i = 0; i < exact.size(); ++i) {
    const std::vector<float>& a = exact[i].last_logits;
    const std::vector<float>& b = other[i].last_logits;
    double sum = 0;
    for (size_t id = 0; id < a.size(); ++id) {
      const double difference = std::abs(static_cast<double>(a[id]) - b[id]);
      sum += difference;
      distance.largest_logit = std::max(distance.largest_logit, difference);
    }
    distance.mean_logit += sum / static_cast<double>(a.size()) / prompts;
    distance.answer_nats += std::abs(exact[i].score.nll - other[i].score.nll) / prompts;
    const bool same = TopTokens(a, 1).front().id == TopTokens(b, 1).front().id;
    distance.same_first += same ? 1 : 0;
  }
  return distance;
}

}  // namespace

std::vector<ArithmeticDistance> MeasureArithmeticDistances(const std::string& model,
                                                           const DecoderOptions& options,
                                                           std::span<const Arithmetic> others,
                                                           int64_t prompts,
                                                           const JobContext& context) {
  JobContext quiet = context;  // omits messages about the model
  quiet.log = nullptr;
  const std::vector<Outcome> exact = OutcomesIn({}, model, options, prompts, quiet);
  std::vector<ArithmeticDistance> distances;
  for (const Arithmetic& other : others)
    distances.push_back(DistanceOf(exact, OutcomesIn(other, model, options, prompts, quiet)));
  return distances;
}

}  // namespace midscope
