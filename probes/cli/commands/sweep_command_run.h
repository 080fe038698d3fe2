// SPDX-License-Identifier: MIT
// One sweep of the command line, from options to the finished file, alone or as one of several
// ranks: the common part of `midscope sweep` and `midscope scan`.
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
  SweepResult result;  // on rank 0
};

class SweepCommandRun {
 public:
  // Makes the scan that replaces the settings of --with, once the model is known.
  using ScanMaker = std::function<Scan(const ModelConfig& config)>;
  // Prints the finished part of a sweep that was cancelled and is not in a file.
  using PrintPart = std::function<void(const SweepPlan& plan, const SweepResult& result)>;

  // `options`: those of SweepOptions, checked.
  SweepCommandRun(const OptionSet& options, const CommandInput& input, const JobContext& job,
                  RankGroup& ranks, ScanMaker make_scan = nullptr)
      : options_(options),
        input_(input),
        job_(job),
        ranks_(ranks),
        make_scan_(std::move(make_scan)) {}

  // Throws Error, Interrupted, Cancelled.
  FinishedSweep Run(const SweepCell& cell, const std::string& file, const PrintPart& print_part);

 private:
  void Open(const std::string& model, const DecoderOptions& options);
  // Fills in `run`, which must stay if it is; returns whether the samples of `file` are run again,
  // for --add. `continued`: the plan that goes on, or "".
  bool Prepare(const SweepCell& cell, const std::string& file, const std::string& continued,
               const Task& task, SweepRun& run);
  SweepPlan Plan(const SweepCell& cell, const Task& task) const;
  // Notes that this CPU runs other instructions than those of another plan, of the sweep in
  // `where`. Throws Error (failure) if that changes more than the last digits, unless --mixed-cpus
  // is given: then `plan` has the other's.
  void CheckInstructions(const std::string& where, const std::string& other_plan,
                         SweepPlan& plan) const;
  // Throws, on all ranks, if the plan of one is not rank 0's, or if one does not see rank 0's part
  // under that name.
  void CheckSamePlan(const std::string& first_part, SweepPlan& plan) const;
  // Logs the format of the first prompt. Throws Error, before a file is created, if prompts lack a
  // passage that a setting names, or if a patch's source is not there: sample 0 is checked for all.
  // A prompt that can't be made is a failed sample, unless no prompt of the task can be made.
  void CheckFirstPrompts(const SweepRun& run) const;
  // Logs the task's notes, and the settings that get no control from --control.
  void LogNotes(const SweepPlan& plan, const Task& task) const;
  SweepResult RunAlone(SweepRun& run, const std::string& file, const PrintPart& print_part) const;
  // `same_command`: the effect of the same command after an interruption.
  SweepResult RunInto(SweepRun& run, const std::string& file, bool resume,
                      const std::string& same_command) const;
  // Without a file, results are printed when the sweep is cancelled: they are stored nowhere else.
  SweepResult RunWithoutFile(SweepRun& run, const PrintPart& print_part) const;
  // Merges the file's plan and the requested one into `plan`; returns whether its samples must be
  // run again.
  bool AddToStored(SweepPlan& plan, const Task& task, const std::string& file) const;
  // Writes the whole plan to a new file, which then replaces the old one: until then that is
  // unchanged.
  SweepResult RunAgain(SweepRun& run, const std::string& file) const;
  // Every rank writes its samples to a part of its own, numbered after those of earlier jobs; at
  // the end rank 0 writes the file that combines them. Only rank 0 has the result.
  SweepResult RunShared(SweepRun& run, const std::string& file) const;
  void RunPart(SweepRun& run, const std::set<int64_t>& waiting, const std::string& part) const;
  // As RunShared, with --overwrite: the new sweep is written beside the old one, which it replaces
  // when it is complete.
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

// Called while `error` is handled, so that the cells after the one named can run: warns, and keeps
// the first failure of all. Rethrows an error that other ranks do not have, as all ranks must go on
// with the same cell.
void NoteFailedCell(const std::string& name, const Error& error, const RankGroup& ranks,
                    const JobContext& job, std::string& first_failure);

// One rank of a job draws the progress; messages of the others have their rank's number. `job` must
// outlive it.
JobContext RankJob(const JobContext& job, int64_t rank);

}  // namespace midscope::cli
