// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/base/timing.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/document_perplexity.h"
#include "probes/measure/statistics/group_means.h"
#include "probes/prompt/sent_prompt.h"
#include "probes/sweep/generated_outcomes.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/scan_effects.h"
#include "probes/sweep/stored_result.h"
#include "probes/sweep/sweep_context.h"
#include "probes/sweep/sweep_statistics.h"

namespace midscope {
namespace {

using Clock = std::chrono::steady_clock;

// Schedules checkpoints, which move samples from the store's journal into the file, where readers
// see them. A checkpoint rewrites the file, so checkpoints are limited to a tenth of the time.
class Checkpoints {
 public:
  explicit Checkpoints(const SweepRun& run) : run_(run) {}

  void SampleDone(const SweepResult& result) {
    ++samples_;
    const double since = SecondsSince(last_);
    // At the first sample, overwrites the old file.
    if (run_.store->keeps_old_file() && !run_.store->finished().empty()) return Write(result);
    if (run_.checkpoint_samples == 0) return;
    const bool due = samples_ >= run_.checkpoint_samples || since >= run_.checkpoint_seconds;
    if (due && since >= 9 * cost_seconds_) Write(result);
  }

  void Write(const SweepResult& result) {
    const Clock::time_point start = Clock::now();
    run_.store->Checkpoint({MeansRecord(run_.plan, result)});
    last_ = Clock::now();
    cost_seconds_ = SecondsSince(start);
    samples_ = 0;
  }

 private:
  const SweepRun& run_;
  int64_t samples_ = 0;
  Clock::time_point last_ = Clock::now();
  double cost_seconds_ = 0;
};

// Logs the first failure of each setting; the file has all failures.
void LogNewFailures(const SweepPlan& plan, const SampleOutcome& outcome, const SweepResult& before,
                    const JobContext& context) {
  for (size_t i = 0; i < outcome.failures.size(); ++i) {
    const bool known = std::any_of(before.outcomes.begin(), before.outcomes.end(),
                                   [&](const SampleOutcome& other) { return !other.Ran(i); });
    if (outcome.Ran(i) || known) continue;
    context.Warn(fmt::format("sample {}: {} is not run: {}. The other settings are", outcome.sample,
                             plan.settings[i].text, outcome.failures[i]));
  }
}

bool IsOfMemory(const Error& error) {
  return dynamic_cast<const MemoryError*>(&error) || dynamic_cast<const DeviceError*>(&error);
}

// Maximum number of failed samples that are named while a sweep runs.
constexpr int64_t kNamedFailures = 5;

// Runs one sample; stores its error message, so that the sweep continues. An error of a lost device
// is rethrown, because all other samples would fail, too; --resume can run them later. Returns
// false if this process must end because another one, which may have more memory, runs the sample.
bool RunOneSample(const SweepRun& run, int64_t sample, const JobContext& context,
                  SweepResult& result) {
  Record record;
  try {
    SampleRequest request = {run.questions(sample),    run.plan.places,    run.plan.settings,
                             run.plan.score,           run.plan.attention, run.trace_memory_bytes,
                             run.plan.scan.has_value()};
    if (run.prompt_at)
      request.prompt_at = [&](int64_t place, int64_t samples_on) {
        return run.prompt_at(sample + samples_on, place);
      };
    request.source_prompts = run.source_prompts;
    request.order = run.order;
    request.unfinished = run.unfinished;
    if (run.on_answer_nll)
      request.on_answer_nll = [&](size_t setting, size_t place, double answer_nll) {
        run.on_answer_nll(sample, setting, place, answer_nll);
      };
    record = RunSample(run.decoder, request, context);
  } catch (const Error& error) {
    const auto* fault = dynamic_cast<const DeviceError*>(&error);
    if (fault && fault->lost()) throw;
    if (run.source && IsOfMemory(error) && run.source->GiveBack(sample)) {
      context.Warn(fmt::format("sample {} is left to another process, and this one ends: {}",
                               sample, error.what()));
      return false;
    }
    result.failures[sample] = error.what();
    const auto failed = std::ssize(result.failures);
    if (failed <= kNamedFailures) {
      context.Warn(fmt::format("sample {} failed: {}", sample, error.what()));
    } else if (failed == kNamedFailures + 1) {
      context.Warn("further samples failed; they are counted at the end");
    }
    if (run.store) run.store->AppendFailure(sample, error.what());
    return true;
  }
  if (run.store) run.store->Append(sample, record);
  SampleOutcome outcome = ReadOutcome(sample, record);
  LogNewFailures(run.plan, outcome, result, context);
  result.outcomes.push_back(std::move(outcome));
  return true;
}

}  // namespace

SweepResult StoredResult(const SweepStore& store) {
  SweepResult result;
  const std::vector<int64_t> samples(store.finished().begin(), store.finished().end());
  result.outcomes = ReadOutcomes(samples, [&](size_t index, const ArrayFilter& wanted) {
    return store.ReadSample(samples[index], wanted);
  });
  if (store.file()) result.tests = ReadTests(*store.file());
  return result;
}

void CheckSomeSamples(const SweepResult& result) {
  if (!result.outcomes.empty() || result.failures.empty()) return;
  throw Failure("sweep", "every sample failed; the first: " + result.failures.begin()->second);
}

std::string FailedSamplesText(const SweepResult& result) {
  const auto failed =
      std::find_if(result.failures.begin(), result.failures.end(),
                   [](const auto& failure) { return !failure.second.starts_with(kTooLong); });
  if (failed == result.failures.end()) return "";
  const int64_t count = std::ssize(result.failures) - result.too_long();
  return fmt::format("{} of {} failed and {} not in the table; sample {}: {}", count,
                     CountText(result.done(), "sample"), count == 1 ? "is" : "are", failed->first,
                     failed->second);
}

void CheckAllSamples(const std::string& failed) {
  if (!failed.empty()) throw Failure("sweep", failed, "With --resume they are run again");
}

namespace {

Record SettingFailuresRecord(const SweepPlan& plan, const SweepResult& result) {
  std::vector<const SampleOutcome*> outcomes;
  for (const SampleOutcome& outcome : result.outcomes) outcomes.push_back(&outcome);
  std::sort(outcomes.begin(), outcomes.end(),
            [](const auto* a, const auto* b) { return a->sample < b->sample; });
  const std::vector<std::string> names = plan.CanonicalSettings();
  std::vector<int64_t> samples;
  std::vector<std::string> settings;
  std::vector<std::string> messages;
  for (const SampleOutcome* outcome : outcomes) {
    for (size_t i = 0; i < outcome->failures.size(); ++i) {
      if (outcome->Ran(i)) continue;
      samples.push_back(outcome->sample);
      settings.push_back(names[i]);
      messages.push_back(outcome->failures[i]);
    }
  }
  Record record;
  record.name = "setting_failures";
  record.axes = {CountedAxis("failure", static_cast<int64_t>(samples.size()))};
  record.arrays = {
      {"failed_sample", {"failure"}, std::move(samples), "", "number of the sample"},
      {"failed_setting", {"failure"}, std::move(settings), "", "the setting that was not run"},
      {"failure_message", {"failure"}, std::move(messages), "", "why it could not be run"}};
  return record;
}

// Adds the record of perplexities of a text's documents, or of the means of a task's data sets.
void AddGroupRecords(const SweepPlan& plan, const SweepResult& result,
                     std::vector<Record>& records) {
  if (IsPerplexityTask(plan.task)) {
    const std::vector<DocumentPerplexity> documents =
        DocumentPerplexities(result.outcomes, plan.settings.size());
    if (documents.empty()) return;
    records.push_back(DocumentPerplexityRecord(plan.CanonicalSettings(), documents));
    return;
  }
  const std::vector<MeasureGroups> groups =
      GroupMeansOf(result.outcomes, plan.settings.size(), plan.places.size());
  if (!groups.empty()) records.push_back(GroupMeansRecord(plan.CanonicalSettings(), groups));
}

}  // namespace

// Tests are computed only at the end; checkpoints have only means.
std::vector<Record> SweepSummaries(const SweepPlan& plan, const SweepResult& result,
                                   const JobContext& context) {
  std::vector<Record> records = {MeansRecord(plan, result)};
  if (plan.scan) {
    // A scan has hundreds of settings, whose effects are tested together.
    records.push_back(ScanEffectsRecord(plan, ScanEffectsOf(plan, result.outcomes, context)));
    if (result.partly_failed() > 0) records.push_back(SettingFailuresRecord(plan, result));
    return records;
  }
  const GeneratedOutcomes generated = GeneratedOutcomesOf(plan, result.outcomes);
  if (!generated.cells.empty()) records.push_back(GeneratedOutcomesRecord(plan, generated));
  const SweepStatistics statistics = AnalyseSweep(plan, result.outcomes, result.tests, context);
  AddGroupRecords(plan, result, records);
  if (!statistics.settings.empty()) records.push_back(SettingStatisticsRecord(plan, statistics));
  if (!statistics.comparisons.empty()) {
    records.push_back(SettingComparisonsRecord(plan, statistics));
  }
  if (result.partly_failed() > 0) records.push_back(SettingFailuresRecord(plan, result));
  return records;
}

int64_t SweepResult::too_long() const {
  return std::count_if(failures.begin(), failures.end(),
                       [](const auto& failure) { return failure.second.starts_with(kTooLong); });
}

int64_t SweepResult::partly_failed() const {
  return std::count_if(outcomes.begin(), outcomes.end(), [](const SampleOutcome& outcome) {
    return std::any_of(outcome.failures.begin(), outcome.failures.end(),
                       [](const std::string& failure) { return !failure.empty(); });
  });
}

SweepResult RunSweep(const SweepRun& run, const JobContext& context) {
  SweepResult result;
  if (run.store) result = StoredResult(*run.store);
  OrderedSamples all(run.plan.first_sample, run.plan.samples,
                     run.store ? run.store->finished() : std::set<int64_t>());
  SampleSource& source = run.source ? *run.source : all;
  Checkpoints checkpoints(run);
  // Progress counts samples; progress within a sample is not reported.
  JobContext inner = context;
  inner.progress = nullptr;
  // Samples before the first one of this process count only if the store has them.
  const auto stored_before = std::count_if(
      result.outcomes.begin(), result.outcomes.end(),
      [&](const SampleOutcome& outcome) { return outcome.sample < run.plan.first_sample; });
  const auto report = [&] {
    context.Report({run.plan.scan ? "scan" : "sweep",
                    result.done() + run.done_before + source.done_elsewhere(),
                    run.plan.samples_to_run() + stored_before, "samples"});
  };
  report();
  std::vector<Record> summaries;
  try {
    for (auto sample = source.Next(context); sample; sample = source.Next(context)) {
      context.ThrowIfCancelled();
      if (!RunOneSample(run, *sample, inner, result)) break;
      if (run.unfinished) *run.unfinished = {};
      report();
      if (run.on_sample) run.on_sample(result);
      if (run.store) checkpoints.SampleDone(result);
    }
    // A complete file already has the tests.
    if (run.store && !run.source && !run.store->is_complete())
      summaries = SweepSummaries(run.plan, result, context);
  } catch (const Cancelled&) {
    if (run.store && !run.source) checkpoints.Write(result);
    throw;
  }
  if (run.source) return result;
  if (run.store) {
    run.store->Finish(summaries);
    if (!summaries.empty()) result.tests = std::move(summaries);
  }
  CheckSomeSamples(result);
  return result;
}

std::vector<CellStatistics> Summarise(const SweepPlan& plan, const SweepResult& result) {
  const auto places = static_cast<int64_t>(plan.places.size());
  std::vector<CellStatistics> cells = SummariseOutcomes(
      result.outcomes, static_cast<int64_t>(plan.settings.size()), places, plan.seed);
  if (!IsPerplexityTask(plan.task)) return cells;
  AddPerplexity(result.outcomes, places, cells);
  AddDocumentPerplexity(DocumentPerplexities(result.outcomes, plan.settings.size()), cells);
  return cells;
}

Record MeansRecord(const SweepPlan& plan, const SweepResult& result) {
  std::map<std::string, std::string> methods = CellMethods(result.outcomes);
  methods["perplexity"] = kPerplexityMethod;
  methods[kDocumentPerplexity] = "Student's t over documents";
  Record record =
      OutcomeMeansRecord(plan.CanonicalSettings(), plan.places, Summarise(plan, result), methods);
  NotePlanTexts(plan, record);
  record.attributes["task"] = plan.task;
  record.attributes["failed_samples"] = static_cast<int64_t>(result.failures.size());
  record.attributes["too_long_samples"] = result.too_long();
  record.attributes["partly_failed_samples"] = result.partly_failed();
  AddPromptCuts(plan, result.outcomes, record);
  const std::string generation_mean = GenerationMeanText(result);
  if (!generation_mean.empty()) record.attributes["generation_score_mean"] = generation_mean;
  record.attributes["score"] = ScoreArmsName(plan.score);
  std::vector<double> seconds = MeanSettingSeconds(result.outcomes, plan.settings.size());
  if (!seconds.empty()) {
    record.arrays.push_back({kSettingSeconds,
                             {"setting"},
                             std::move(seconds),
                             kSeconds,
                             "mean wall time per sample of the setting's runs at all places"});
  }
  NoteFormat(plan.format, record);
  return record;
}

std::string GenerationMeanText(const SweepResult& result) {
  if (result.outcomes.empty() || result.outcomes.front().generation_score.empty()) return "";
  if (result.outcomes.front().rouge.empty()) return "";
  return "geometric mean of the mean ROUGE-1, ROUGE-2 and ROUGE-L, as ZeroSCROLLS forms it";
}

}  // namespace midscope
