// SPDX-License-Identifier: MIT
#include "probes/model/dtype_distance.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "core/run/scoring.h"
#include "data/tasks/task.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

constexpr const char* kTask = "list:lines=20";
constexpr int64_t kPrompts = 4;

struct Outcome {
  std::vector<float> last_logits;
  AnswerScore score;
};

std::vector<Outcome> OutcomesIn(kernels::Dtype dtype, const std::string& model,
                                DecoderOptions options, const JobContext& context) {
  options.dtype = dtype;
  options.fastest_dtype = false;
  const auto decoder = Decoder::Open(model, options, context);
  const auto task = MakeTaskFor(decoder->tokenizer(), kTask, /*seed=*/1);
  const std::vector<int64_t> places = DefaultPlaces(task->pieces());
  std::vector<Outcome> outcomes;
  for (int64_t sample = 0; sample < kPrompts; ++sample) {
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

}  // namespace

DtypeDistance MeasureDtypeDistance(const std::string& model, const DecoderOptions& options,
                                   const JobContext& context) {
  JobContext quiet = context;  // messages about the model are not about this comparison
  quiet.log = nullptr;
  const std::vector<Outcome> exact = OutcomesIn(kernels::Dtype::kFloat32, model, options, quiet);
  const std::vector<Outcome> rounded = OutcomesIn(kernels::Dtype::kBFloat16, model, options, quiet);
  DtypeDistance distance;
  distance.prompts = kPrompts;
  for (size_t i = 0; i < exact.size(); ++i) {
    const std::vector<float>& a = exact[i].last_logits;
    const std::vector<float>& b = rounded[i].last_logits;
    double sum = 0;
    for (size_t id = 0; id < a.size(); ++id) {
      const double difference = std::abs(static_cast<double>(a[id]) - b[id]);
      sum += difference;
      distance.largest_logit = std::max(distance.largest_logit, difference);
    }
    distance.mean_logit += sum / static_cast<double>(a.size()) / kPrompts;
    distance.answer_nats += std::abs(exact[i].score.nll - rounded[i].score.nll) / kPrompts;
    const bool same = TopTokens(a, 1).front().id == TopTokens(b, 1).front().id;
    distance.same_first += same ? 1 : 0;
  }
  return distance;
}

}  // namespace midscope
