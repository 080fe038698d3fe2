// SPDX-License-Identifier: MIT
// Runs a sweep from its options to the finished file, in one process or as one of several ranks
// (processes that share the work): the common part of `midscope sweep` and `midscope scan`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "data/sweep/rank_parts.h"
#include "data/tasks/task.h"
#include "probes/cli/program/command.h"
#include "probes/sweep/rank_group.h"
#include "probes/sweep/sweep.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

struct FinishedSweep {
  SweepPlan plan;
  SweepResult result;  // the result is only on rank 0
};

class SweepCommandRun {
 public:
  // Makes the scan whose settings replace those of --with, once the model is open.
  using ScanMaker = std::function<Scan(const ModelConfig& config)>;
  // Prints the finished samples of a cancelled sweep that has no file.
  using PrintPart = std::function<void(const SweepPlan& plan, const SweepResult& result)>;

  // `options`: values of SweepOptions, already checked.
  SweepCommandRun(const OptionSet& options, const CommandInput& input, const JobContext& job,
                  RankGroup& ranks, ScanMaker make_scan = nullptr)
      : options_(options),
        input_(input),
        job_(job),
        ranks_(ranks),
        make_scan_(std::move(make_scan)) {}

  // Runs one cell of the grid. Throws Error, Interrupted, Cancelled.
  FinishedSweep Run(const SweepCell& cell, const std::string& file, const PrintPart& print_part);

 private:
  void Open(const std::string& model, const DecoderOptions& options);
  // Fills in `run`, which must not be moved afterwards; returns whether all samples of `file` must
  // be run again, for --add. `continued`: plan of the sweep that is continued; "": none.
  bool Prepare(const SweepCell& cell, const std::string& file, const std::string& continued,
               const Task& task, SweepRun& run);
  SweepPlan Plan(const SweepCell& cell, const Task& task) const;
  // Warns if this CPU uses another instruction set than `other_plan`, the plan of the sweep in file
  // `where`. Throws Error (failure) if the difference changes more than the last digits, unless
  // --mixed-cpus is given: then `plan` gets the instruction set of the other plan.
  void CheckInstructions(const std::string& where, const std::string& other_plan,
                         SweepPlan& plan) const;
  // Throws on all ranks if the plan of any rank differs from rank 0's, or if any rank cannot see
  // the file `first_part` that rank 0 wrote.
  void CheckSamePlan(const std::string& first_part, SweepPlan& plan) const;
  // Logs the format of the first prompt. Throws Error, before a file is created, if a prompt has no
  // passage that a setting names, or the source prompt of a patch is missing; only sample 0 is
  // checked. If it can't be made, it is a failed sample, unless no prompt of the task can be made.
  void CheckFirstPrompts(const SweepRun& run) const;
  // Logs the task's notes, and the settings for which --control adds no control setting.
  void LogNotes(const SweepPlan& plan, const Task& task) const;
  SweepResult RunAlone(SweepRun& run, const std::string& file, const PrintPart& print_part) const;
  // Runs the sweep into a file. `same_command`: text for the user about what repeating the command
  // after an interruption does.
  SweepResult RunInto(SweepRun& run, const std::string& file, bool resume,
                      const std::string& same_command) const;
  // Runs the sweep in memory. If it is cancelled, prints the results so far, which no file stores.
  SweepResult RunWithoutFile(SweepRun& run, const PrintPart& print_part) const;
  // For --add: merges the plan stored in `file` into `plan`; returns whether all samples must be
  // rerun.
  bool AddToStored(SweepPlan& plan, const Task& task, const std::string& file) const;
  // Runs the whole plan into a new file, which replaces `file` when it is complete.
  SweepResult RunAgain(SweepRun& run, const std::string& file) const;
  // Every rank writes its samples to a separate part file, numbered after the parts of earlier
  // jobs; at the end, rank 0 combines the parts into one file. Only rank 0 returns the result.
  SweepResult RunShared(SweepRun& run, const std::string& file) const;
  void RunPart(SweepRun& run, const std::set<int64_t>& waiting, const std::string& part) const;
  // For --overwrite with several ranks: writes the new sweep beside the old one, which it then
  // replaces.
  EarlierParts SettleOverwriting(const SharedSweep& shared) const;
  void ReplaceShared(const SharedSweep& from, const std::string& to) const;
  SharedSweep Shared(const SweepPlan& plan, const std::string& file) const;
  Provenance Origin(const SweepPlan& plan) const;
  bool GoesOn() const { return options_.Flag("resume") || options_.Flag("add"); }
  SweepStore Store(const SweepPlan& plan, const std::string& file, bool resume) const;

  const OptionSet& options_;
  const CommandInput& input_;
  const JobContext& job_;
  RankGroup& ranks_;
  ScanMaker make_scan_;
  std::string model_;
  std::shared_ptr<const Decoder> decoder_;
};

// Handles `error` of the sweep of cell `name` so that the following cells can run; call it from a
// catch block: logs a warning, and sets `first_failure` unless it is set. Rethrows an error that
// was not thrown on all ranks, because all ranks must continue with the same cell.
void NoteFailedCell(const std::string& name, const Error& error, const RankGroup& ranks,
                    const JobContext& job, std::string& first_failure);

// Returns the job context of a rank: only rank 0 reports progress; messages of the others begin
// with the rank's number. `job` must outlive it.
JobContext RankJob(const JobContext& job, int64_t rank);

}  // namespace midscope::cli
