// SPDX-License-Identifier: MIT
// Estimates the cost of a sweep before it runs: tokens x settings / throughput.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Cost of one sample of a plan.
struct SampleCost {
  int64_t prompts = 0;          // one per place
  int64_t runs = 0;             // prompts x settings
  double prompt_tokens = 0;     // sum over all places
  double generated_tokens = 0;  // upper bound, sum over all cells
  // Work as a number of prompt tokens that take the same time: settings that reuse a prompt's trace
  // count only the rows that they run again, a common prefix of prompts counts once. Generated
  // tokens are not included.
  double work_tokens = 0;

  // Returns the work including generated tokens, each counted as `token_cost` prompt tokens.
  double TokensOfWork(double token_cost) const {
    return work_tokens + token_cost * generated_tokens;
  }
};

// Time to generate one token (in a batch of a sample's places), as a number of prompt tokens, if it
// is not measured; it is large because all weights are read for few rows. Measured on the embedded
// model at bfloat16 with one thread, prompts of 550 tokens (seconds of --score generation minus
// those of the prompts at the rate of --score likelihood, over generated_tokens): 12 for
// kv:pairs=7, whose five places generate 100 tokens each in one batch, 17 for mdqa:documents=5,
// whose answers end at different times.
inline constexpr double kGeneratedTokenCost = 15;
// Minimum cost of a run of the last rows, as a share of a full run, because keys are updated.
inline constexpr double kLastRowsShare = 0.02;

// Returns the share of the rows of all layers that a what-if runs again. `first_rows`: the result
// of FirstChangedRows.
inline double ShareOfRows(std::span<const int64_t> first_rows, int64_t tokens) {
  double rows = 0;
  for (const int64_t first : first_rows)
    rows += static_cast<double>(tokens - std::min(first, tokens));
  return rows / static_cast<double>(tokens) / static_cast<double>(first_rows.size());
}

// Returns the time of a run of this share of a prompt's rows, as a number of prompt tokens.
// `behind`: number of tokens that follow the prompt and are always run again.
inline double TokensOfRun(double share, int64_t tokens, int64_t behind) {
  const auto all = static_cast<double>(tokens);
  return std::max(kLastRowsShare * all + static_cast<double>(behind), all * share);
}

// Estimates the cost of a sample. `traces_fit`: whether the cached traces of a sample's prompts fit
// in memory (sweep_sample.h). Throws Error in the same cases as CompilePlans.
SampleCost CostOfSample(const SweepPlan& plan, const std::vector<TaskQuestion>& questions,
                        const ModelConfig& config, bool traces_fit);

// Cost of one cell of a sweep's grid, for the schedule.
struct CellCost {
  int64_t samples = 0;
  double seconds_per_sample = 0;
  double seconds_to_open = 0;  // time to open the cell's model, on each rank
  size_t model = 0;            // index of the cell's model
};

struct Schedule {
  int64_t ranks = 1;
  double seconds = 0;          // time until the last rank has finished
  double busy = 1;             // share of all ranks' time spent in samples
  double sample_seconds = 0;   // sum over ranks: time spent in samples
  double open_seconds = 0;     // sum over ranks: time spent opening models
  int64_t fewest_samples = 0;  // minimum number of samples of a rank
  int64_t most_samples = 0;
};

// Simulates a schedule: every rank opens each model; free ranks take the next sample of a cell; all
// ranks wait at the end of a cell, because rank 0 then joins the files of the ranks.
Schedule PlanSchedule(const std::vector<CellCost>& cells, int64_t ranks);

// Returns the smallest number of ranks whose schedule takes at most the share `slack` longer than
// that of `ranks` ranks.
int64_t FewestRanks(const std::vector<CellCost>& cells, int64_t ranks, double slack);

// Returns the largest number of ranks, up to `ranks`, that spend at least the share `busy` of their
// time in samples.
int64_t MostBusyRanks(const std::vector<CellCost>& cells, int64_t ranks, double busy);

}  // namespace midscope
