// SPDX-License-Identifier: MIT
// Runs a batch of probes from its options to the finished file, in one process or as one of several
// ranks (processes that share the work).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "probes/cli/commands/probe_batch_options.h"
#include "probes/cli/program/command.h"
#include "probes/engine/kept_prompts.h"
#include "probes/engine/probe_batch.h"
#include "probes/measure/builtin/probe_registry.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {

// The result of a batch.
struct ProbeBatchReport {
  ProbeCell cell;
  std::vector<int64_t> samples;  // finished samples
  std::vector<int64_t> places;
  std::vector<Record> records;  // results, only on rank 0
};

class ProbeBatchRun {
 public:
  ProbeBatchRun(const CommandInput& input, const ProbeRegistry& probes, const JobContext& job,
                RankGroup& ranks)
      : input_(input), probes_(probes), job_(job), ranks_(ranks) {}

  // Runs the prompts that the batch's file does not have yet, and writes the file. If the batch is
  // cancelled, on_part gets the complete samples; with a file, every finished prompt is also stored
  // in a folder beside it. Throws Error, Cancelled, Interrupted.
  using OnPart = std::function<void(const ProbeBatchReport& part)>;
  ProbeBatchReport Run(const ProbeCell& cell, const OnPart& on_part);

  // Number of prompts, their tokens, and estimated seconds of a batch, measured by running one
  // prompt.
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

// Checks the batches before a model is loaded; creates the folder if there are several files.
// Throws Error: (usage) if a file already exists, or an option needs a file or several prompts;
// (failure) if the folder cannot be created.
void CheckProbeCells(const std::vector<ProbeCell>& cells, int64_t ranks);

}  // namespace midscope::cli
