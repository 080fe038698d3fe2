// SPDX-License-Identifier: MIT
// What a sweep will cost, before it runs: tokens x settings / throughput.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// One sample of a plan.
struct SampleCost {
  int64_t prompts = 0;          // one a place
  int64_t runs = 0;             // prompts x settings
  double prompt_tokens = 0;     // of all places together
  double generated_tokens = 0;  // at most, of all cells
  // Tokens of whole prompts whose time it takes: settings that re-use a prompt's trace count for
  // what they run again alone, prompts that begin alike run that once, a generated token counts for
  // kGeneratedTokenCost.
  double work_tokens = 0;
};

// A token generated (in a batch of a sample's places) takes about the time of so many tokens of a
// prompt, for its weights are read for few rows. Measured on the embedded model at bfloat16 with
// one thread, prompts of 550 tokens (seconds of --score generation less those of the prompts at the
// rate of --score likelihood, over generated_tokens): 12 for kv:pairs=7, whose five places generate
// 100 tokens side by side, 17 for mdqa:documents=5, whose answers end one after the other.
inline constexpr double kGeneratedTokenCost = 15;
// Rows that are run again alone cost at least this share of the prompt's run: keys are updated.
inline constexpr double kLastRowsShare = 0.02;

// `traces_fit`: whether the traces of a sample's prompts are kept (sweep_sample.h). Throws Error as
// CompilePlans does.
SampleCost CostOfSample(const SweepPlan& plan, const std::vector<TaskQuestion>& questions,
                        const ModelConfig& config, bool traces_fit);

// A cell of a grid, as the schedule sees it.
struct CellCost {
  int64_t samples = 0;
  double seconds_per_sample = 0;
  double seconds_to_open = 0;  // its model, on each rank
  size_t model = 0;            // cells of one model have one number
};

struct Schedule {
  int64_t ranks = 1;
  double seconds = 0;          // until the last rank is done
  double busy = 1;             // share of all ranks' time that goes into samples
  double sample_seconds = 0;   // of all ranks together: in samples,
  double open_seconds = 0;     // and opening models
  int64_t fewest_samples = 0;  // of a rank
  int64_t most_samples = 0;
};

// Every rank opens each model; ranks take the next sample of a cell whenever they are free, and
// wait for each other at its end, for each cell has a file that rank 0 joins.
Schedule PlanSchedule(const std::vector<CellCost>& cells, int64_t ranks);

// The fewest ranks, up to `ranks`, that are done at most `slack` (a share of the time) later.
int64_t FewestRanks(const std::vector<CellCost>& cells, int64_t ranks, double slack);

// The most ranks, up to `ranks`, of whose time at least the share `busy` goes into samples.
int64_t MostBusyRanks(const std::vector<CellCost>& cells, int64_t ranks, double busy);

}  // namespace midscope
