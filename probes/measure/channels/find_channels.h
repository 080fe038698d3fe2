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

// Options of the validation; its plan's `trials` are set after the ranking.
struct ValidationRequest {
  ValidationPlan plan;          // without trials
  std::vector<double> factors;  // factors tried for every candidate
  bool control = false;         // whether to try the same number of random channels, too
};

struct FindChannelsRun {
  std::shared_ptr<const Decoder> decoder;
  ChannelSearchOptions search;
  int64_t top = 10;  // number of candidates that are plotted and validated
  std::optional<ValidationRequest> validation;
  // Prefix of the files of unfinished work (UnfinishedFiles); "": no such files.
  std::string out;
  bool resume = false;
  // Called with preliminary results; may be empty. Called with record channel_search after 1, 2, 4,
  // 8, ... prompts (with the attribute kPlannedPrompts) and, when final, before the validation; and
  // with record channel_validation after every example but the last (with the attribute
  // kPlannedExamples).
  std::function<void(const Record&)> on_partial = {};
  std::vector<Hook*> hooks = {};  // not owned; used only in the search; run before states are read
  // Hidden-state sums of an earlier search with the same plan of states, or empty; the search adds
  // to them, also on Cancelled. Not owned; may be null.
  HiddenSums* sums = nullptr;
  // Runs the sweep of validation trials; if empty, RunSweep runs it.
  std::function<SweepResult(SweepRun run, const JobContext& context)> run_trials = {};
};

// Returns everything that affects the results of a search, as JSON.
std::string FindChannelsPlanJson(const FindChannelsRun& run);

// Returns the names of the files of unfinished work for `out`: OUT.search (sums of hidden states),
// OUT.validation (a sweep's file) and its journal.
std::vector<std::string> UnfinishedFiles(const std::string& out);
void RemoveUnfinishedFiles(const std::string& out);
// Throws Error (usage) if a file of unfinished work exists for `out` and `resume` is false.
void CheckUnfinishedFiles(const std::string& out, bool resume);

// Returns whether there are files of an interrupted search beside `out`.
bool HasUnfinishedSearch(const std::string& out);

// Runs the search. Returns records channel_search and, if there is a validation and a candidate,
// channel_validation and the sweep's outcome_means. Throws Error: (usage) if unfinished work exists
// and `resume` is false, (failure) if the unfinished work has another plan; Cancelled.
std::vector<Record> FindChannels(const FindChannelsRun& run, const JobContext& context);

// Returns the estimated duration of a search in seconds, from a timed prefill and from one
// validation example at one place, run under `none` and under one trial.
double EstimateSeconds(const FindChannelsRun& run, const JobContext& context);

// Makes the search that `options` (which include ChannelOptions, channel_options.h) describe,
// without files. Throws Error (usage) if the options do not fit the model.
FindChannelsRun ReadChannelOptions(const OptionSet& options,
                                   std::shared_ptr<const Decoder> decoder);

}  // namespace midscope
