// SPDX-License-Identifier: MIT
#include "probes/tuning/tuning_samples.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/tasks/task.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {
namespace {

// Returns the indices of the documents in the random order of round `round`.
std::vector<size_t> OrderOf(uint64_t seed, int64_t round, int64_t documents) {
  std::vector<size_t> order(static_cast<size_t>(documents));
  std::iota(order.begin(), order.end(), size_t{0});
  SplitMix64 random(~seed, static_cast<uint64_t>(round));
  return random.Draw(std::move(order), static_cast<size_t>(documents));
}

class FromDocuments {
 public:
  FromDocuments(SampledRecipe recipe, std::vector<TuningDocument> documents, int64_t training,
                int64_t held_out)
      : recipe_(std::move(recipe)),
        documents_(std::move(documents)),
        training_(training),
        held_out_(held_out) {}

  TuningSample At(int64_t index) {
    const TuningDocument& document = documents_[DocumentOf(index)];
    const PositionSample drawn = Draw(std::ssize(document.ids), index);
    TuningSample sample;
    for (const int64_t token : drawn.token_index) {
      const auto at = static_cast<size_t>(token);
      sample.ids.push_back(document.ids[at]);
      if (!document.in_loss.empty()) sample.in_loss.push_back(document.in_loss[at]);
    }
    sample.position_ids.assign(drawn.position_id.begin(), drawn.position_id.end());
    return sample;
  }

 private:
  size_t DocumentOf(int64_t index) {
    const int64_t trained = std::ssize(documents_) - held_out_;
    if (index >= training_) return static_cast<size_t>(trained + (index - training_) % held_out_);
    const int64_t round = index / trained;
    if (order_.empty() || round != round_) order_ = OrderOf(recipe_.seed, round, trained);
    round_ = round;
    return order_[static_cast<size_t>(index % trained)];
  }

  PositionSample Draw(int64_t document, int64_t index) const {
    const int64_t used =
        recipe_.sampler->name == "pose" ? std::min(document, recipe_.context()) : document;
    return PreparePositions(*recipe_.sampler,
                            {.tokens = recipe_.sample_tokens(),
                             .context = recipe_.context(),
                             .document = used,
                             .seed = recipe_.seed},
                            recipe_.options)(index);
  }

  SampledRecipe recipe_;
  std::vector<TuningDocument> documents_;
  int64_t training_;
  int64_t held_out_;
  std::vector<size_t> order_;  // order of documents in the last drawn round
  int64_t round_ = 0;
};

class FromTasks {
 public:
  FromTasks(SampledRecipe recipe, TaskSampleRequest request, const Tokenizer& tokenizer)
      : recipe_(std::move(recipe)), request_(std::move(request)), tokenizer_(tokenizer) {
    for (const std::string& spec : request_.tasks) {
      const Task& task = *tasks_.emplace_back(MakeTaskFor(tokenizer, spec, ~recipe_.seed));
      if (request_.distilled_places == 0) continue;
      if (task.pieces() < 2) {
        throw UsageError("task '" + task.name() + "'",
                         "it has one place, and pos2distill needs another one to teach");
      }
      samples_.push_back(std::min(request_.distilled_places, task.pieces() - 1) + 1);
    }
  }

  TuningSample At(int64_t index) const {
    return request_.distilled_places > 0 ? Distilled(index) : Plain(index);
  }

 private:
  TuningSample Plain(int64_t index) const {
    const auto tasks = std::ssize(tasks_);
    const Task& task = *tasks_[static_cast<size_t>(index % tasks)];
    SplitMix64 random(recipe_.seed, static_cast<uint64_t>(index));
    const int64_t place = task.first_place() +
                          static_cast<int64_t>(random.Below(static_cast<uint64_t>(task.pieces())));
    const Prompt prompt = PromptOfSample(tokenizer_, task, index / tasks, place, request_.format);
    TuningSample sample;
    sample.ids = WithAnswer(prompt, prompt.answer_ids);
    CheckLength(task, index, std::ssize(sample.ids));
    if (request_.answer_only) {
      sample.in_loss.assign(sample.ids.size(), 0);
      std::fill(sample.in_loss.begin() + std::ssize(prompt.ids), sample.in_loss.end(), 1);
    }
    sample.position_ids = PositionIds(std::ssize(sample.ids), index);
    return sample;
  }

  // Returns a sample for distillation: a question with the gold piece at other places, drawn
  // without repetition, then at the first place. A round has one question of each task; held-out
  // samples begin with a new round.
  TuningSample Distilled(int64_t index) const {
    const int64_t round =
        std::max<int64_t>(1, std::accumulate(samples_.begin(), samples_.end(), int64_t{0}));
    const int64_t training = (request_.training + round - 1) / round * round;
    const int64_t at = index < request_.training ? index : index - request_.training + training;
    size_t of_task = 0;
    int64_t member = at % round;
    while (member >= samples_[of_task]) member -= samples_[of_task++];
    const Task& task = *tasks_[of_task];
    std::vector<int64_t> others(static_cast<size_t>(task.pieces() - 1));
    std::iota(others.begin(), others.end(), int64_t{1});
    const auto count = static_cast<size_t>(samples_[of_task] - 1);
    others = SplitMix64(recipe_.seed, static_cast<uint64_t>(at / round) * tasks_.size() + of_task)
                 .Draw(std::move(others), count);
    const auto prompt_at = [&](int64_t place) {
      return PromptOfSample(tokenizer_, task, at / round, task.first_place() + place,
                            request_.format);
    };
    TuningSample sample;
    sample.place = member == std::ssize(others) ? 0 : others[static_cast<size_t>(member)];
    const Prompt student = prompt_at(sample.place);
    const Prompt teacher = prompt_at(0);
    sample.ids = WithAnswer(student, student.answer_ids);
    sample.teacher_ids = WithAnswer(teacher, student.answer_ids);
    sample.answer_tokens = std::ssize(student.answer_ids);
    CheckLength(task, index, std::max(std::ssize(sample.ids), std::ssize(sample.teacher_ids)));
    return sample;
  }

  static std::vector<int32_t> WithAnswer(const Prompt& prompt, const std::vector<int32_t>& answer) {
    std::vector<int32_t> ids = prompt.ids;
    ids.insert(ids.end(), answer.begin(), answer.end());
    return ids;
  }

  void CheckLength(const Task& task, int64_t index, int64_t tokens) const {
    if (tokens <= recipe_.sample_tokens()) return;
    throw Failure("task '" + task.name() + "'",
                  fmt::format("sample {} has {} tokens with its answer, which exceeds {}", index,
                              tokens, recipe_.sample_tokens()),
                  "Give more --tokens, or a task with less text");
  }

  std::vector<double> PositionIds(int64_t tokens, int64_t index) const {
    std::vector<double> ids(static_cast<size_t>(tokens));
    std::iota(ids.begin(), ids.end(), 0.0);
    if (recipe_.sampler->name == "full") return ids;
    const PositionSample drawn = PreparePositions(
        *recipe_.sampler,
        {.tokens = tokens, .context = recipe_.context(), .document = tokens, .seed = recipe_.seed},
        recipe_.options)(index);
    return {drawn.position_id.begin(), drawn.position_id.end()};
  }

  SampledRecipe recipe_;
  TaskSampleRequest request_;
  const Tokenizer& tokenizer_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<int64_t> samples_;  // [task], number of samples per question; empty: no distillation
};

}  // namespace

TuningSamples DocumentSamples(const SampledRecipe& recipe, std::vector<TuningDocument> documents,
                              int64_t training, int64_t held_out) {
  auto samples = std::make_shared<FromDocuments>(recipe, std::move(documents), training, held_out);
  samples->At(0);  // throws if the sampler cannot make a sample with its options
  return [samples](int64_t index) { return samples->At(index); };
}

TuningSamples TaskSamples(const SampledRecipe& recipe, const TaskSampleRequest& request,
                          const Tokenizer& tokenizer) {
  auto samples = std::make_shared<FromTasks>(recipe, request, tokenizer);
  samples->At(0);
  return [samples](int64_t index) { return samples->At(index); };
}

}  // namespace midscope
