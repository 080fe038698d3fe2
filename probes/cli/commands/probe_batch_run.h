// SPDX-License-Identifier: MIT
// Batches of probes on the command line, from options to the finished file, alone or as one of
// several ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "probes/cli/commands/probe_cells.h"
#include "probes/cli/program/command.h"
#include "probes/engine/kept_prompts.h"
#include "probes/engine/probe_batch.h"
#include "probes/plugin/probe_registry.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {

// The result of a batch.
struct ProbeBatchReport {
  ProbeCell cell;
  std::vector<int64_t> samples;  // that are done
  std::vector<int64_t> places;
  std::vector<Record> records;  // on rank 0
};

class ProbeBatchRun {
 public:
  ProbeBatchRun(const CommandInput& input, const ProbeRegistry& probes, const JobContext& job,
                RankGroup& ranks)
      : input_(input), probes_(probes), job_(job), ranks_(ranks) {}

  // Runs the missing part of the batch's file, and writes it. Without a file, and when the batch is
  // cancelled, on_part gets the finished part; for a file that is the complete samples, and every
  // prompt is stored beside it. Throws Error, Cancelled, Interrupted.
  using OnPart = std::function<void(const ProbeBatchReport& part)>;
  ProbeBatchReport Run(const ProbeCell& cell, const OnPart& on_part);

  // Runs, prompt tokens and seconds of the batch, from one prompt that is run.
  struct Cost {
    int64_t prompts = 0;
    int64_t tokens = 0;
    double seconds = 0;
  };
  Cost Estimate(const ProbeCell& cell);

 private:
  struct Prepared;
  Prepared Prepare(const ProbeCell& cell);
  ProbeBatchReport RunInMemory(const Prepared& batch, const OnPart& on_part) const;
  ProbeBatchReport RunIntoFile(const Prepared& batch, const OnPart& on_part) const;
  ProbeBatchReport Stacked(const Prepared& batch, const std::vector<int64_t>& samples,
                           PromptStore& store) const;
  ProbeBatchReport Finished(const Prepared& batch) const;
  void Save(const Prepared& batch, const std::vector<Record>& records) const;
  Provenance Origin(const Prepared& batch) const;
  std::string PlanJson(const Prepared& batch) const;

  const CommandInput& input_;
  const ProbeRegistry& probes_;
  const JobContext& job_;
  RankGroup& ranks_;
  std::string model_;
  std::shared_ptr<const Decoder> decoder_;
};

// Checks before a model is loaded; makes the folder of several files. Throws Error: (usage) a file
// exists that must not, an option needs a file or several prompts; (failure) the folder cannot be
// made.
void CheckProbeCells(const std::vector<ProbeCell>& cells, int64_t ranks);

}  // namespace midscope::cli
