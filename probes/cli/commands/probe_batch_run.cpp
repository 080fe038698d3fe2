// SPDX-License-Identifier: MIT
#include "probes/cli/commands/probe_batch_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/timing.h"
#include "core/terms/intervention_text.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_lock.h"
#include "data/tasks/task.h"
#include "kernels/instruction_set.h"
#include "probes/cli/commands/probe_batch_options.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/console/output.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/sent_prompt.h"
#include "probes/sweep/sample_source.h"

namespace midscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Options that are not stored in the batch's plan: options that change no number (output paths, use
// of the machine), and options of the model, which are stored as resolved.
constexpr const char* kNotOfThePlan[] = {"model",    "out",     "overwrite", "resume", "json",
                                         "plan",     "dry-run", "threads",   "dtype",  "weights",
                                         "products", "samples", "quiet",     "list"};

// Returns the plan of the finished prompts of a batch, as JSON; "" if there are none.
std::string ContinuedPlan(const std::string& file) {
  std::string kept = KeptPrompts::PlanIn(file);
  if (!kept.empty() || !fs::exists(file)) return kept;
  return RunReader(file).plan_json();
}

std::set<int64_t> Waiting(const ProbeBatch& batch, const PromptStore& store) {
  std::set<int64_t> waiting(batch.samples.begin(), batch.samples.end());
  for (const int64_t sample : FinishedSamples(batch, store)) waiting.erase(sample);
  return waiting;
}

}  // namespace

struct ProbeBatchRun::Prepared {
  const ProbeCell& cell;
  Intervention intervention;
  PromptFormat format;
  ProbeBatch batch;
  const OptionSet& options() const { return cell.options; }
  const std::string& file() const { return cell.options.Text("out"); }
};

ProbeBatchRun::Prepared ProbeBatchRun::Prepare(const ProbeCell& cell) {
  const OptionSet& options = cell.options;
  Prepared prepared{
      cell, ParseIntervention(OneSetting(options, "probe")), ReadPromptFormat(options), {}};
  const std::string continued = options.Flag("resume") ? ContinuedPlan(prepared.file()) : "";
  const DecoderOptions opened = SweepDecoderOptions(cell.cell.model, options, continued, ranks_);
  ranks_.Agree([&] {
    if (!decoder_ || cell.cell.model != model_ ||
        opened.arithmetic() != decoder_->options().arithmetic()) {
      decoder_.reset();  // memory may not suffice for two models
      decoder_ = OpenDecoder(cell.cell.model, opened, job_);
      model_ = cell.cell.model;
    }
    prepared.batch = ReadBatch(options, prepared.format, decoder_->tokenizer());
  });
  return prepared;
}

std::string ProbeBatchRun::PlanJson(const Prepared& batch) const {
  Json plan = Json::parse(batch.options().ToJson());
  for (const char* name : kNotOfThePlan) plan.erase(name);
  plan["command"] = kProbeCommand;
  plan["task_files_hash"] = TaskFilesHash(batch.options().Text("task"));
  plan["with"] = PrintIntervention(batch.intervention);
  plan["model_hash"] = decoder_->hash();
  plan["dtype"] = DtypeName(decoder_->options().dtype);
  if (decoder_->options().products != Products::kFloat)
    plan["products"] = ProductsName(decoder_->options().products);
  plan[kInstructionsOfPlan] = kernels::InstructionSetName();
  plan["weights"] = WeightStorageName(decoder_->options().weights);
  return plan.dump();
}

Provenance ProbeBatchRun::Origin(const Prepared& batch) const {
  const OptionSet& options = batch.options();
  return MakeProvenance(*decoder_, input_.command_line, options.Integer("seed"), options.ToJson());
}

void ProbeBatchRun::Save(const Prepared& batch, const std::vector<Record>& records) const {
  WriteRecords(batch.file(), records, Origin(batch),
               {.overwrite = true, .plan_json = PlanJson(batch)});
}

ProbeBatchReport ProbeBatchRun::Stacked(const Prepared& batch, const std::vector<int64_t>& samples,
                                        PromptStore& store) const {
  ProbeBatchReport report{batch.cell, samples, batch.batch.places, {}};
  report.records = StackBatch(batch.batch, samples, probes_, batch.options(), store);
  if (report.records.empty()) return report;
  NoteFormat(batch.format, report.records.back());
  report.records.back().attributes["intervention"] = PrintIntervention(batch.intervention);
  return report;
}

ProbeBatchReport ProbeBatchRun::Run(const ProbeCell& cell, const OnPart& on_part) {
  const Prepared batch = Prepare(cell);
  const Prompt first = batch.batch.prompt(batch.batch.samples.front(), batch.batch.places.front());
  if (ranks_.rank() == 0) job_.Log(SentLine(first, decoder_->tokenizer(), batch.format));
  return batch.file().empty() ? RunInMemory(batch, on_part) : RunIntoFile(batch, on_part);
}

ProbeBatchReport ProbeBatchRun::RunInMemory(const Prepared& batch, const OnPart& on_part) const {
  PromptsInMemory store;
  OrderedSamples source(Waiting(batch.batch, store));
  try {
    RunBatchPrompts(*decoder_, batch.batch, batch.intervention, probes_, batch.options(), source,
                    store, job_);
  } catch (const Cancelled&) {
    const std::vector<int64_t> done = FinishedSamples(batch.batch, store);
    if (done.empty()) throw;
    on_part(Stacked(batch, done, store));
    throw Interrupted(fmt::format(
        "probe interrupted: {} of {} samples are done, but not stored. --out FILE.h5 keeps "
        "them, so that --resume can continue",
        done.size(), batch.batch.samples.size()));
  }
  return Stacked(batch, batch.batch.samples, store);
}

// Reads the file of a batch that has already finished.
ProbeBatchReport ProbeBatchRun::Finished(const Prepared& batch) const {
  RunFile file = ReadRecords(batch.file());
  std::string difference = FirstPlanDifference(file.plan_json, PlanJson(batch));
  std::vector<int64_t> samples;
  if (const Axis* axis = file.records.back().FindAxis("sample"))
    samples.assign(axis->values.begin(), axis->values.end());
  if (difference.empty() && samples != batch.batch.samples) {
    difference =
        fmt::format("it has {} from {} on, but {} from {} on are requested",
                    CountText(std::ssize(samples), "sample"), samples.empty() ? 0 : samples.front(),
                    batch.batch.samples.size(), batch.batch.samples.front());
  }
  if (!difference.empty()) {
    throw Failure(batch.file(), "holds another batch, which is finished: " + difference,
                  "Give --overwrite, or another --out");
  }
  job_.Log(batch.file() + " has all of it");
  return {batch.cell, samples, batch.batch.places, std::move(file.records)};
}

ProbeBatchReport ProbeBatchRun::RunIntoFile(const Prepared& batch, const OnPart& on_part) const {
  const std::string& file = batch.file();
  const bool leads = ranks_.rank() == 0;
  const bool resume = batch.options().Flag("resume");
  std::optional<SweepLock> lock;
  if (leads) lock.emplace(file);
  // With --overwrite, removes earlier stored prompts; the results file stays until it is replaced.
  std::error_code ignored;
  if (leads && batch.options().Flag("overwrite"))
    fs::remove_all(KeptPrompts::FolderOf(file), ignored);
  const bool finished =
      ranks_.FromRankZero(resume && fs::exists(file) && KeptPrompts::PlanIn(file).empty() ? 1 : 0);
  if (finished) return leads ? Finished(batch) : ProbeBatchReport{batch.cell, {}, {}, {}};
  std::optional<KeptPrompts> kept;
  const auto open = [&] { kept.emplace(file, PlanJson(batch), Origin(batch), resume || !leads); };
  if (leads) open();
  ranks_.Barrier();  // the folder exists now
  if (!leads) open();
  try {
    ranks_.Share(leads ? Waiting(batch.batch, *kept) : std::set<int64_t>(),
                 [&](SampleSource& source) {
                   RunBatchPrompts(*decoder_, batch.batch, batch.intervention, probes_,
                                   batch.options(), source, *kept, job_);
                 });
  } catch (const Cancelled&) {
    const std::vector<int64_t> done = FinishedSamples(batch.batch, *kept);
    if (leads && !done.empty()) {
      const ProbeBatchReport part = Stacked(batch, done, *kept);
      Save(batch, part.records);
      on_part(part);
    }
    throw Interrupted(
        fmt::format("probe interrupted: {} of {} samples are done{}. The same command with "
                    "--resume{} continues",
                    done.size(), batch.batch.samples.size(), done.empty() ? "" : ", and in " + file,
                    batch.options().Flag("overwrite") ? " in place of --overwrite" : ""));
  }
  ranks_.Barrier();
  if (!leads) return {batch.cell, {}, {}, {}};
  ProbeBatchReport report = Stacked(batch, batch.batch.samples, *kept);
  Save(batch, report.records);
  kept->Remove();
  return report;
}

ProbeBatchRun::Cost ProbeBatchRun::Estimate(const ProbeCell& cell) {
  const Prepared batch = Prepare(cell);
  ProbeBatch one = batch.batch;
  one.samples.resize(1);
  one.places.resize(1);
  const auto seconds = [&] {
    const auto start = std::chrono::steady_clock::now();
    RunProbeBatch(*decoder_, one, batch.intervention, probes_, batch.options(), job_);
    return SecondsSince(start);
  };
  seconds();  // first run, as a warm-up
  const double first = seconds();
  Cost cost;
  int64_t first_tokens = 0;
  for (const int64_t place : batch.batch.places) {
    const auto tokens = std::ssize(batch.batch.prompt(batch.batch.samples.front(), place).ids);
    if (first_tokens == 0) first_tokens = tokens;
    cost.tokens += tokens;
  }
  const auto samples = std::ssize(batch.batch.samples);
  cost.prompts = samples * std::ssize(batch.batch.places);
  cost.tokens *= samples;
  cost.seconds = first * static_cast<double>(cost.tokens) / static_cast<double>(first_tokens);
  return cost;
}

void CheckProbeCells(const std::vector<ProbeCell>& cells, int64_t ranks) {
  const OptionSet& options = cells.front().options;
  CheckOverwrite(options);
  if (options.Text("out").empty()) {
    if (ranks > 1) {
      throw UsageError("option --out", "several processes share a batch through its file",
                       "Give --out FILE.h5, in a folder that all of them can access");
    }
    if (options.Flag("resume"))
      throw UsageError("option --resume", "it needs a file to resume", "Give --out FILE.h5");
    return;
  }
  if (cells.size() > 1) MakeFolderOfFiles(fs::path(options.Text("out")).parent_path().string());
  const bool may_exist = options.Flag("resume") || options.Flag("overwrite");
  for (const ProbeCell& cell : cells) {
    CheckOutputPath(cell.options.Text("out"), may_exist,
                    "Give --resume to continue, --overwrite, or another --out");
  }
}

}  // namespace midscope::cli
