// SPDX-License-Identifier: MIT
#include "probes/engine/kept_samples.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "probes/sweep/sample_source.h"

namespace midscope {
namespace {

std::vector<Record> Summaries(const ProbeBatch& batch, const std::vector<int64_t>& samples,
                              const ProbeRegistry& probes, const OptionSet& options,
                              PromptsInMemory prompts) {
  std::vector<Record> records = StackBatch(batch, samples, probes, options, prompts);
  std::erase_if(records, [](const Record& record) { return record.FindAxis("sample") != nullptr; });
  for (Record& record : records) {
    record.attributes["samples"] = std::ssize(samples);
    record.attributes["complete"] = int64_t{samples.size() == batch.samples.size() ? 1 : 0};
  }
  return records;
}

}  // namespace

PromptsInMemory& KeptProbes::PromptsOf(const std::string& key) {
  if (!prompts_.contains(key)) {
    if (order_.size() == kMostSettings) {
      prompts_.erase(order_.front());
      order_.erase(order_.begin());
    }
    order_.push_back(key);
  }
  return prompts_[key];
}

std::vector<Record> KeptProbes::Run(const Decoder& decoder, const ProbeBatch& batch,
                                    const Intervention& intervention, const ProbeRegistry& probes,
                                    const OptionSet& options, const OnRecord& so_far,
                                    const JobContext& context) {
  PromptsInMemory& prompts = PromptsOf(PrintIntervention(intervention) + '\n' + options.ToJson());
  const auto places = std::ssize(batch.places);
  std::vector<int64_t> done;
  for (const int64_t sample : batch.samples) {
    ProbeBatch one = batch;
    one.samples = {sample};
    const int64_t before = std::ssize(done) * places;
    JobContext inner = context;
    inner.log = nullptr;  // otherwise every sample would be logged
    inner.progress = [&](const Progress& progress) {
      context.Report(
          {"probe", before + progress.done, std::ssize(batch.samples) * places, "prompts"});
    };
    OrderedSamples source(std::set<int64_t>{sample});
    RunBatchPrompts(decoder, one, intervention, probes, options, source, prompts, inner);
    done.push_back(sample);
    if (!so_far || done.size() == batch.samples.size()) continue;
    for (const Record& record : Summaries(batch, done, probes, options, prompts)) so_far(record);
  }
  return Summaries(batch, done, probes, options, prompts);
}

namespace {

constexpr size_t kMostComparisons = 16;

std::string KeyOf(const SweepPlan& plan) {
  std::string key;
  for (const int64_t place : plan.places) key += std::to_string(place) + ' ';
  for (const std::string& setting : plan.CanonicalSettings()) key += setting + '\n';
  return key;
}

// Appends `more` to `before`, after adding `offset` to its sample numbers.
SweepResult Joined(SweepResult before, const SweepResult& more, int64_t offset) {
  for (SampleOutcome outcome : more.outcomes) {
    outcome.sample += offset;
    before.outcomes.push_back(std::move(outcome));
  }
  for (const auto& [sample, why] : more.failures) before.failures[sample + offset] = why;
  return before;
}

// Changes `run` to run only the samples from number `done` on, renumbered from 0.
void SkipSamples(int64_t done, SweepRun& run) {
  run.plan.samples -= done;
  run.questions = [done, questions = std::move(run.questions)](int64_t sample) {
    return questions(sample + done);
  };
  if (!run.prompt_at) return;
  run.prompt_at = [done, prompt_at = std::move(run.prompt_at)](int64_t sample, int64_t place) {
    return prompt_at(sample + done, place);
  };
}

}  // namespace

SweepResult KeptSweeps::Finished(const SweepPlan& plan) const {
  const auto found = comparisons_.find(KeyOf(plan));
  return found == comparisons_.end() ? SweepResult() : found->second.result;
}

const LikelihoodArrays& KeptSweeps::Unfinished(const SweepPlan& plan) const {
  static const LikelihoodArrays none;
  const auto found = unfinished_.find(KeyOf(plan));
  return found == unfinished_.end() ? none : found->second;
}

SweepResult KeptSweeps::Run(SweepRun run, const JobContext& context) {
  const std::string key = KeyOf(run.plan);
  if (!comparisons_.contains(key) && comparisons_.size() >= kMostComparisons) {
    comparisons_.clear();
    unfinished_.clear();
  }
  Comparison& comparison = comparisons_[key];
  comparison.plan = run.plan;
  SweepResult& kept = comparison.result;
  const int64_t done = kept.done();
  const int64_t samples = run.plan.samples;
  if (done >= samples) return FirstSamples(kept, samples);
  const SweepResult before = kept;
  SkipSamples(done, run);
  run.unfinished = &unfinished_[key];
  run.on_sample = [&, tell = std::move(run.on_sample)](const SweepResult& so_far) {
    kept = Joined(before, so_far, done);
    if (tell) tell(kept);
  };
  JobContext rest = context;
  rest.progress = [&](Progress progress) {
    progress.done += done;
    progress.total += done;
    if (context.progress) context.progress(progress);
  };
  try {
    RunSweep(run, rest);
  } catch (const Error&) {
    kept = before;  // keeps the samples from before, so that a failed comparison can be repeated
    throw;
  }
  return kept;
}

std::vector<Record> KeptChannelSearch::Run(FindChannelsRun run, const JobContext& context) {
  if (states_ != run.search.states) {
    sums_ = HiddenSums();
    states_ = run.search.states;
  }
  std::string plan_json = FindChannelsPlanJson(run);
  if (plan_json != plan_json_) {
    trials_ = KeptSweeps();
    plan_json_ = std::move(plan_json);
  }
  run.sums = &sums_;
  run.run_trials = [this](SweepRun trials, const JobContext& job) {
    return trials_.Run(std::move(trials), job);
  };
  std::vector<Record> records = FindChannels(run, context);
  const auto bytes = static_cast<int64_t>(sums_.sums.size() * sizeof(double));
  if (bytes > kFinishedBytes) sums_ = HiddenSums();
  return records;
}

}  // namespace midscope
