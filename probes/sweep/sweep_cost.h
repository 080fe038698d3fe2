// SPDX-License-Identifier: MIT
// Cost of a sweep, estimated before it runs: tokens x settings / throughput.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// One sample of a plan.
struct SampleCost {
  int64_t prompts = 0;          // one per place
  int64_t runs = 0;             // prompts x settings
  double prompt_tokens = 0;     // of all places together
  double generated_tokens = 0;  // at most, of all cells
  // Prompt tokens that take the same time: settings that re-use a prompt's trace count only the
  // rows they run again, prompts with a common prefix run it once, a generated token counts
  // kGeneratedTokenCost.
  double work_tokens = 0;
};

// The time of a generated token (in a batch of a sample's places) in prompt tokens: the weights are
// read for few rows. Measured on the embedded model at bfloat16 with one thread, prompts of 550
// tokens (seconds of --score generation minus those of the prompts at the rate of --score
// likelihood, over generated_tokens): 12 for kv:pairs=7, whose five places generate 100 tokens each
// in one batch, 17 for mdqa:documents=5, whose answers end at different times.
inline constexpr double kGeneratedTokenCost = 15;
// A run of few rows costs at least this share of the prompt's run: keys are updated.
inline constexpr double kLastRowsShare = 0.02;

// `traces_fit`: whether the traces of a sample's prompts are cached (sweep_sample.h). Throws Error
// in the same cases as CompilePlans.
SampleCost CostOfSample(const SweepPlan& plan, const std::vector<TaskQuestion>& questions,
                        const ModelConfig& config, bool traces_fit);

// A cell of a grid, for the schedule.
struct CellCost {
  int64_t samples = 0;
  double seconds_per_sample = 0;
  double seconds_to_open = 0;  // opening its model, on each rank
  size_t model = 0;            // index of the model: equal for cells of one model
};

struct Schedule {
  int64_t ranks = 1;
  double seconds = 0;          // until the last rank is done
  double busy = 1;             // share of all ranks' time that is spent in samples
  double sample_seconds = 0;   // of all ranks together: in samples, in opening models
  double open_seconds = 0;     // and opening models
  int64_t fewest_samples = 0;  // of one rank
  int64_t most_samples = 0;
};

// Every rank opens each model; ranks take the next sample of a cell when they are free, and wait
// for each other at its end, because rank 0 joins each cell's file.
Schedule PlanSchedule(const std::vector<CellCost>& cells, int64_t ranks);

// The smallest number of ranks, up to `ranks`, that finishes at most `slack` (a share of the time)
// later.
int64_t FewestRanks(const std::vector<CellCost>& cells, int64_t ranks, double slack);

// The largest number of ranks, up to `ranks`, that spends at least the share `busy` of its time in
// samples.
int64_t MostBusyRanks(const std::vector<CellCost>& cells, int64_t ranks, double busy);

}  // namespace midscope
