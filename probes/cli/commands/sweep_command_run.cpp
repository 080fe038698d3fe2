// SPDX-License-Identifier: MIT
#include "probes/cli/commands/sweep_command_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/timing.h"
#include "core/intervention/passage.h"
#include "core/run/patch_sources.h"
#include "data/store/record_reader.h"
#include "data/store/unfinished_files.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/rank_parts.h"
#include "data/sweep/sweep_lock.h"
#include "kernels/instruction_set.h"
#include "probes/base/record_origin.h"
#include "probes/cli/commands/prompt_options.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/commands/sweep_options.h"
#include "probes/cli/commands/sweep_table.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/sent_prompt.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {
namespace {

// Returns whether a setting names passages, or source prompts of patches, which may be missing.
bool NamesOthers(const SweepPlan& plan) {
  return std::any_of(plan.settings.begin(), plan.settings.end(), [](const SweepSetting& setting) {
    return WithAnyPassages(setting.intervention) != setting.intervention ||
           setting.intervention.Find<Patch>();
  });
}

// Returns a callback that logs the table so far, at most every `seconds`.
std::function<void(const SweepResult&)> Watch(const SweepPlan& plan, int64_t seconds,
                                              const JobContext& job) {
  using Clock = std::chrono::steady_clock;
  if (seconds == 0) return nullptr;
  return [&plan, &job, every = std::chrono::seconds(seconds),
          last = Clock::now()](const SweepResult& result) mutable {
    if (Clock::now() - last < every || result.done() == plan.samples_to_run()) return;
    last = Clock::now();
    job.Log(fmt::format("{} of {} samples\n{}", result.done(), plan.samples_to_run(),
                        RunningTable(plan, result)));
  };
}

// Network folders may take this time to show files that another machine wrote.
constexpr double kSecondsUntilSeen = 5;

std::string CommandName(const SweepPlan& plan) { return plan.scan ? "scan" : "sweep"; }

void RemoveSweep(const std::string& file) {
  RemoveRankParts(file);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  std::filesystem::remove(JournalPath(file), ignored);
}

// With --resume and without --places, sets the plan's places to those in the file.
void KeepStoredPlaces(const std::string& file, const Task& task, SweepPlan& plan) {
  try {
    const SweepPlan stored = StoredPlan(RunReader(file));
    if (stored.task != plan.task) return;
    plan.places = stored.places;
    plan.place_texts = stored.place_texts;
    plan.place_shares = PlaceShares(plan.places, task);
  } catch (const Error&) {  // no file yet, or a damaged one, which the store reports later
  }
}

// Returns whether the task's file had the stored plan's content before lines were appended to it.
bool IsEarlierFile(const SweepPlan& stored, const SweepPlan& plan) {
  return stored.task_file_bytes > 0 && stored.task_file_bytes < plan.task_file_bytes &&
         TaskFilesHashOf(plan.task, stored.task_file_bytes) == stored.task_files_hash;
}

// Returns the plan in a sweep's file if the task's file has grown since it was written; "" if it
// has not grown, or if the sweep's file does not exist.
std::string EarlierPlan(const std::string& file, const SweepPlan& plan) {
  if (plan.task_file_bytes == 0 || !std::filesystem::is_regular_file(file)) return "";
  const RunReader reader(file);
  return IsEarlierFile(StoredPlan(reader), plan) ? reader.plan_json() : "";
}

// Returns a line with the wall time of each setting, printed apart because it is not a result.
std::string SecondsText(const SweepPlan& plan, const SweepResult& result) {
  const std::vector<double> means = MeanSettingSeconds(result.outcomes, plan.settings.size());
  std::string text;
  for (size_t i = 0; i < means.size(); ++i) {
    if (!std::isfinite(means[i])) continue;
    text += fmt::format("{} {} {:.3g}", text.empty() ? "seconds per sample:" : ",",
                        plan.settings[i].text, means[i]);
  }
  return text;
}

}  // namespace

FinishedSweep SweepCommandRun::Run(const SweepCell& cell, const std::string& file,
                                   const PrintPart& print_part) {
  const std::string continued = GoesOn() ? ContinuedPlanJson(file, ranks_) : "";
  const DecoderOptions opened = SweepDecoderOptions(cell.model, options_, continued, ranks_);
  std::unique_ptr<Task> task;
  SweepRun run;
  bool run_again = false;
  ranks_.Agree([&] {
    Open(cell.model, opened);
    task = MakeTaskFor(decoder_->tokenizer(), cell.task, cell.seed);
    run_again = Prepare(cell, file, continued, *task, run);
  });
  // Only rank 0 prints a table, of its own samples.
  if (ranks_.rank() == 0) run.on_sample = Watch(run.plan, options_.Integer("watch"), job_);
  SweepResult result = run_again           ? RunAgain(run, file)
                       : ranks_.size() > 1 ? RunShared(run, file)
                                           : RunAlone(run, file, print_part);
  const std::string seconds = SecondsText(run.plan, result);
  if (ranks_.rank() == 0 && !seconds.empty()) job_.Log(seconds);
  return {std::move(run.plan), std::move(result)};
}

bool SweepCommandRun::Prepare(const SweepCell& cell, const std::string& file,
                              const std::string& continued, const Task& task, SweepRun& run) {
  const Tokenizer& tokenizer = decoder_->tokenizer();
  run.decoder = decoder_;
  run.source_prompts = ReadNamedPrompts(options_, ReadPromptFormat(options_), tokenizer);
  run.plan = Plan(cell, task);
  for (const auto& [name, prompt] : run.source_prompts)
    run.plan.source_prompts[name] = PromptsHash({prompt});
  CheckInstructions(file, continued, run.plan);
  const bool run_again = options_.Flag("add") && AddToStored(run.plan, task, file);
  if (options_.Flag("resume") && !options_.IsSet("places")) KeepStoredPlaces(file, task, run.plan);
  std::vector<Intervention> interventions;
  for (const SweepSetting& setting : run.plan.settings)
    interventions.push_back(setting.intervention);
  CheckSourcesUsed(options_, interventions);
  LogNotes(run.plan, task);
  run.checkpoint_samples = options_.Integer("checkpoint");
  run.questions = [this, &run, &task](int64_t sample) {
    return TaskQuestions(decoder_->tokenizer(), task, run.plan.places, sample, run.plan.format);
  };
  run.prompt_at = [this, &run, &task](int64_t sample, int64_t place) {
    return PromptOfSample(decoder_->tokenizer(), task, sample, place, run.plan.format);
  };
  CheckFirstPrompts(run);
  return run_again;
}

void SweepCommandRun::CheckInstructions(const std::string& where, const std::string& other_plan,
                                        SweepPlan& plan) const {
  const std::string other = PlanInstructions(other_plan);
  const std::string here = kernels::InstructionSetName();
  if (other.empty() || other == here) return;
  const std::string difference =
      fmt::format("its samples are run with {}, and this CPU runs with {}", other, here);
  const bool may_mix = options_.Flag("mixed-cpus");
  if (may_mix) plan.instructions = other;
  if (may_mix || TakesAnyInstructions(nlohmann::json::parse(PlanJson(plan, *decoder_)))) {
    job_.Log("note: " + where + ": " + difference);
    return;
  }
  throw Failure(where,
                difference + ", which moves " + DtypeName(decoder_->options().dtype) +
                    " results by more than small effects",
                "Run where there is " + other + ", choose --dtype float32, or give --mixed-cpus");
}

void SweepCommandRun::CheckSamePlan(const std::string& first_part, SweepPlan& plan) const {
  const std::string first = ranks_.FromRankZero(PlanJson(plan, *decoder_));
  ranks_.Agree([&] {
    if (ranks_.rank() == 0) return;
    CheckInstructions("rank 0", first, plan);
    const std::string difference = FirstPlanDifference(first, PlanJson(plan, *decoder_));
    if (!difference.empty()) {
      throw Failure("sweep", "it is not that of rank 0: " + difference,
                    "Give all ranks the same files of models and tasks");
    }
    const auto begin = std::chrono::steady_clock::now();
    while (!std::filesystem::exists(JournalPath(first_part))) {
      if (SecondsSince(begin) > kSecondsUntilSeen) {
        throw Failure(first_part, "rank 0's file is not visible to this rank",
                      "Give --out in a folder that all ranks see, by its whole path");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
}

SweepPlan SweepCommandRun::Plan(const SweepCell& cell, const Task& task) const {
  if (!make_scan_) return PlanOf(options_, cell, task, *decoder_);
  const Scan scan = make_scan_(decoder_->config());
  OptionSet options = options_;
  options.Set("with", ScanSettings(scan));
  SweepPlan plan = PlanOf(options, cell, task, *decoder_);
  plan.scan = scan;
  return plan;
}

void SweepCommandRun::Open(const std::string& model, const DecoderOptions& options) {
  if (decoder_ && model == model_ && options.arithmetic() == decoder_->options().arithmetic())
    return;
  decoder_.reset();  // memory may not suffice for two models
  decoder_ = OpenDecoder(model, options, job_);
  model_ = model;
}

void SweepCommandRun::CheckFirstPrompts(const SweepRun& run) const {
  const bool leads = ranks_.rank() == 0;
  const bool names_others = NamesOthers(run.plan);
  if (!leads && !names_others) return;
  std::vector<TaskQuestion> questions;
  try {
    questions = run.questions(run.plan.first_sample);
    if (leads) job_.Log(SentLine(questions.front().prompt, decoder_->tokenizer(), run.plan.format));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kUsage) throw;
    if (leads) job_.Warn(fmt::format("sample {}: {}", run.plan.first_sample, error.what()));
    if (names_others) throw;
  }
  const auto at_place = [&](int64_t place, int64_t samples_on) {
    return run.prompt_at(run.plan.first_sample + samples_on, place);
  };
  const PatchSources sources(*decoder_, {at_place, run.source_prompts});
  for (const SweepSetting& setting : run.plan.settings) {
    for (const TaskQuestion& question : questions) {
      ResolvePassages(setting.intervention, question.prompt);
      sources.CheckKnown(setting.intervention, question.prompt);
    }
  }
}

void SweepCommandRun::LogNotes(const SweepPlan& plan, const Task& task) const {
  if (ranks_.rank() != 0) return;
  for (const std::string& note : task.notes()) job_.Log("note: " + note);
  if (!options_.Flag("control")) return;
  for (const std::string& setting : SettingsWithoutControl(plan.settings)) {
    job_.Warn("no control for " + setting + ": it has no channels or order of heads to randomise");
  }
}

SweepResult SweepCommandRun::RunAlone(SweepRun& run, const std::string& file,
                                      const PrintPart& print_part) const {
  if (file.empty()) return RunWithoutFile(run, print_part);
  if (options_.Flag("overwrite"))
    return RunInto(run, file, /*resume=*/false, "with --resume in place of --overwrite continues");
  FoldRankParts(Shared(run.plan, file));
  return RunInto(run, file, GoesOn(), "with --resume continues");
}

SweepResult SweepCommandRun::RunInto(SweepRun& run, const std::string& file, bool resume,
                                     const std::string& same_command) const {
  SweepStore store = Store(run.plan, file, resume);
  run.store = &store;
  try {
    SweepResult result = RunSweep(run, job_);
    run.store = nullptr;
    return result;
  } catch (const Cancelled&) {
    if (store.keeps_old_file())
      throw Interrupted(CommandName(run.plan) +
                        " interrupted before its first sample was done: " + file + " is as it was");
    throw Interrupted(fmt::format("{} interrupted: {} of {} samples are in {}. The same command {}",
                                  CommandName(run.plan), store.finished().size(),
                                  run.plan.samples_to_run(), file, same_command));
  }
}

SweepResult SweepCommandRun::RunWithoutFile(SweepRun& run, const PrintPart& print_part) const {
  SweepResult so_far;
  run.on_sample = [&so_far, watch = run.on_sample](const SweepResult& result) {
    so_far = result;
    if (watch) watch(result);
  };
  try {
    return RunSweep(run, job_);
  } catch (const Cancelled&) {
    if (so_far.outcomes.empty()) throw;
    print_part(run.plan, so_far);
    throw Interrupted(
        fmt::format("{} interrupted: {} of {} samples are done, but not "
                    "stored. --out FILE.h5 stores them, so that --resume can continue",
                    CommandName(run.plan), so_far.done(), run.plan.samples_to_run()));
  }
}

bool SweepCommandRun::AddToStored(SweepPlan& plan, const Task& task,
                                  const std::string& file) const {
  const RunReader reader(file);
  const SweepPlan stored = StoredPlan(reader);
  SweepAddition addition = AdditionOf(options_, stored, plan, task);
  SweepPlan before = addition.plan;
  std::erase_if(before.source_prompts,
                [&](const auto& source) { return !stored.source_prompts.contains(source.first); });
  before.settings = stored.settings;
  before.places = stored.places;
  before.samples = stored.samples;
  if (IsEarlierFile(stored, plan)) {
    before.task_files_hash = stored.task_files_hash;
    before.task_file_bytes = stored.task_file_bytes;
  }
  const std::string difference =
      FirstPlanDifference(reader.plan_json(), PlanJson(before, *decoder_));
  if (!difference.empty()) {
    throw Failure(file, "holds a sweep of another plan: " + difference,
                  "Settings, places and samples can be added, nothing else");
  }
  if (addition.more_cells && ranks_.size() > 1) {
    throw UsageError("option --add", "settings and places are added by one process",
                     "Run it without mpirun, or write to another file");
  }
  if (!addition.more_cells && !addition.more_samples) {
    job_.Log("nothing to add: " + file + " has all of it");
  }
  plan = std::move(addition.plan);
  return addition.more_cells;
}

SweepResult SweepCommandRun::RunAgain(SweepRun& run, const std::string& file) const {
  const std::string grown = AdditionPath(file);
  const SweepLock lock(file);
  job_.Log(
      fmt::format("{} samples are run again, with the additions, in {}; {} remains unchanged "
                  "until that is done",
                  run.plan.samples_to_run(), grown, file));
  SweepResult result =
      RunInto(run, grown, /*resume=*/true, fmt::format("continues; {} is unchanged", file));
  ReplaceSweep(grown, file);
  return result;
}

SweepResult SweepCommandRun::RunShared(SweepRun& run, const std::string& file) const {
  const bool leads = ranks_.rank() == 0;
  const bool overwrite = options_.Flag("overwrite");
  const std::string into = overwrite ? file + ".overwriting" : file;
  const SharedSweep shared = Shared(run.plan, into);
  std::optional<SweepLock> lock;
  std::set<int64_t> waiting;
  EarlierParts earlier;
  if (leads) {
    if (overwrite) lock.emplace(file);
    earlier = overwrite ? SettleOverwriting(shared) : SettleRankParts(shared);
    if (!overwrite) lock.emplace(file);
    for (int64_t sample = run.plan.first_sample; sample < run.plan.samples; ++sample) {
      if (!earlier.finished.contains(sample)) waiting.insert(sample);
    }
  } else {
    run.checkpoint_samples = 0;  // no checkpoints, because the journal suffices
  }
  run.done_before = std::ssize(earlier.finished);
  const int64_t next = ranks_.FromRankZero(earlier.next);
  const std::string part = RankPath(into, next + ranks_.rank());
  std::optional<SweepStore> first;
  if (leads) first.emplace(Store(run.plan, part, GoesOn()));
  try {
    CheckSamePlan(RankPath(into, next), run.plan);
  } catch (...) {
    first.reset();
    if (leads) RemoveSweep(part);
    throw;
  }
  {
    SweepStore store = leads ? *std::move(first) : Store(run.plan, part, GoesOn());
    run.store = &store;
    RunPart(run, waiting, part);
    run.store = nullptr;
    store.Finish();
  }
  ranks_.Barrier();
  if (!leads) return {};
  if (overwrite) ReplaceShared(shared, file);
  JoinRankParts(Shared(run.plan, file));
  lock.reset();
  const SweepStore stored = SweepStore::OpenForReading(file);
  SweepResult result = StoredResult(stored);
  result.failures = stored.failures();
  CheckSomeSamples(result);
  if (result.done() < run.plan.samples_to_run()) {
    throw Failure(file,
                  fmt::format("it has {} of {} samples: others are where this rank does not see "
                              "them, or no rank had the memory for them",
                              result.done(), run.plan.samples_to_run()),
                  "The same command with --resume runs them");
  }
  return result;
}

void SweepCommandRun::RunPart(SweepRun& run, const std::set<int64_t>& waiting,
                              const std::string& part) const {
  try {
    ranks_.Share(waiting, [&](SampleSource& source) {
      run.source = &source;
      RunSweep(run, job_);
    });
  } catch (const Cancelled&) {
    throw Interrupted(
        fmt::format("{} interrupted: {} samples are safe in {} and its journal. "
                    "The same command{} continues",
                    CommandName(run.plan), run.store->finished().size(), part,
                    options_.Flag("overwrite") ? "" : " with --resume"));
  }
}

EarlierParts SweepCommandRun::SettleOverwriting(const SharedSweep& shared) const {
  try {
    return SettleRankParts(shared);
  } catch (const Error&) {  // the part files have another plan, from a killed job
    RemoveSweep(shared.path);
    return SettleRankParts(shared);
  }
}

void SweepCommandRun::ReplaceShared(const SharedSweep& from, const std::string& to) const {
  if (SettleRankParts(from).finished.empty()) {
    RemoveSweep(from.path);
    throw Failure("sweep", "every sample failed; " + to + " is as it was");
  }
  RemoveSweep(to);
  for (const int64_t number : RankNumbers(from.path))
    ReplaceSweep(RankPath(from.path, number), RankPath(to, number));
}

SharedSweep SweepCommandRun::Shared(const SweepPlan& plan, const std::string& file) const {
  return {file, PlanJson(plan, *decoder_), Origin(plan),
          [this, &plan](const SweepMerge& merge) { return MergedSummaries(merge, plan, job_); }};
}

Provenance SweepCommandRun::Origin(const SweepPlan& plan) const {
  return MakeProvenance(*decoder_, input_.command_line, static_cast<int64_t>(plan.seed),
                        options_.ToJson());
}

SweepStore SweepCommandRun::Store(const SweepPlan& plan, const std::string& file,
                                  bool resume) const {
  SweepStoreOptions store_options;
  store_options.resume = resume;
  // With several processes, every rank writes a new part file, so --overwrite does not apply to it.
  store_options.overwrite = options_.Flag("overwrite") && ranks_.size() == 1;
  store_options.growing = kSamplesOfPlan;
  if (resume) store_options.earlier_plan = EarlierPlan(file, plan);
  SweepStore store =
      SweepStore::Create(file, PlanJson(plan, *decoder_), Origin(plan), store_options);
  if (!store.is_locked()) job_.Log("note: " + WithoutLockText(file));
  return store;
}

void NoteFailedCell(const std::string& name, const Error& error, const RankGroup& ranks,
                    const JobContext& job, std::string& first_failure) {
  if (!ranks.all_know()) throw;
  if (first_failure.empty()) first_failure = name + ": " + error.what();
  // Only the rank on which the error was thrown logs a warning.
  if (!dynamic_cast<const AnotherRankFailed*>(&error)) job.Warn(name + " failed: " + error.what());
}

JobContext RankJob(const JobContext& job, int64_t rank) {
  if (rank == 0) return job;
  JobContext quiet = job;
  quiet.progress = nullptr;
  const std::string from = fmt::format("rank {}: ", rank);
  quiet.log = [&job, from](const std::string& message) { job.Log(from + message); };
  quiet.warn = [&job, from](const std::string& message) { job.Warn(from + message); };
  return quiet;
}

}  // namespace midscope::cli
