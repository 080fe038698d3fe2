// SPDX-License-Identifier: MIT
// The complete search for a positional channel, from random text to a setting: hidden states,
// ranking, validation. It can be interrupted and resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "probes/measure/channels/channel_search.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

// Options of the validation; `trials` come from the ranking.
struct ValidationRequest {
  ValidationPlan plan;          // without trials
  std::vector<double> factors;  // factors tried for every candidate
  bool control = false;         // whether to try as many random channels, too
};

struct FindChannelsRun {
  std::shared_ptr<const Decoder> decoder;
  ChannelSearchOptions search;
  int64_t top = 10;  // number of candidates that are plotted and validated
  std::optional<ValidationRequest> validation;
  // Prefix of the files of unfinished work (UnfinishedFiles); "": no such files.
  std::string out;
  bool resume = false;
  // Called with preliminary results; may be empty. Record channel_search after 1, 2, 4, 8, ...
  // prompts has the attribute kPlannedPrompts, and before the validation it is final; record
  // channel_validation after every example but the last has kPlannedExamples.
  std::function<void(const Record&)> on_partial = {};
  std::vector<Hook*> hooks = {};  // not owned; only used in the search, before states are read
  // Sums of an earlier search with the same states, or empty ones; updated by the search, also on
  // Cancelled. Not owned; may be null.
  HiddenSums* sums = nullptr;
  // Runs the trials; if empty, RunSweep does.
  std::function<SweepResult(SweepRun run, const JobContext& context)> run_trials = {};
};

// Returns everything that affects the numbers, as JSON.
std::string FindChannelsPlanJson(const FindChannelsRun& run);

// Returns the files of unfinished work for `out`: OUT.search (sums of hidden states),
// OUT.validation (a sweep's file) with its journal.
std::vector<std::string> UnfinishedFiles(const std::string& out);
void RemoveUnfinishedFiles(const std::string& out);
// Throws Error (usage) if one of these files exists and `resume` is false.
void CheckUnfinishedFiles(const std::string& out, bool resume);

// Whether there are files of an interrupted search beside `out`.
bool HasUnfinishedSearch(const std::string& out);

// Returns records channel_search and, if there is a validation and a candidate, channel_validation
// and the sweep's outcome_means. Throws Error: (usage) if unfinished work exists and `resume` is
// false, (failure) if it has another plan; Cancelled.
std::vector<Record> FindChannels(const FindChannelsRun& run, const JobContext& context);

// Estimated duration in seconds, from a timed prefill and from one example at one place under
// `none` and under one trial.
double EstimateSeconds(const FindChannelsRun& run, const JobContext& context);

// Makes the search that `options` (which include ChannelOptions, channel_options.h) describe,
// without files. Throws Error (usage) if it does not fit the model.
FindChannelsRun ReadChannelOptions(const OptionSet& options,
                                   std::shared_ptr<const Decoder> decoder);

}  // namespace midscope
