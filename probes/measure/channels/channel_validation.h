// SPDX-License-Identifier: MIT
// Selects the positional channel to scale, and its factor: tries each combination on examples with
// known answers and selects the lowest teacher-forced loss (Yu et al., arXiv 2406.02536, section
// 3.2; section 4.1 has the factors 0.5, 0, -0.5 and -1 and the 100 examples). The public code only
// tries factor 0, in layers 10 to 25, with another loss (kCodeLoss).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "probes/sweep/sweep.h"

namespace midscope {

struct ChannelTrial {
  int64_t channel = 0;
  double factor = 0;
  bool control = false;  // random channel: baseline for the effect of any channel
};

// The paper states only "loss". The default is Midscope's own definition of the loss: the sum over
// the answer's tokens, in nats, averaged over places and examples.
struct ValidationLoss {
  bool per_token = false;  // mean over the answer's tokens instead of their sum
  bool one_place = false;  // use example i only at place i modulo the number of places
  bool rounded = false;    // mean over examples, rounded to 4 decimals
  bool operator==(const ValidationLoss&) const = default;
};
// The loss of the public code.
inline constexpr ValidationLoss kCodeLoss = {true, true, true};

struct ValidationPlan {
  std::string task;   // task with all parameters, "list:lines=20"
  uint64_t seed = 1;  // seed of the examples
  int64_t examples = 100;
  std::vector<int64_t> places;
  PromptFormat format = {};
  LayerSet layers;  // layers in which channels are scaled
  ValidationLoss loss = {};
  std::vector<ChannelTrial> trials;
};

// Returns all combinations of channels and factors.
std::vector<ChannelTrial> MakeTrials(const std::vector<int64_t>& channels,
                                     const std::vector<double>& factors, bool control);

// Returns as many random channels, as controls, as there are candidates; none is a candidate.
std::vector<int64_t> ControlChannels(const std::vector<int64_t>& candidates, int64_t hidden,
                                     uint64_t seed);

// Returns the setting of a trial as text: "channel(100, factor=-1, layers=8-25)".
std::string TrialText(const ChannelTrial& trial, const LayerSet& layers);

// Returns the sweep that runs the trials: setting 0 is `none`, setting i + 1 is trials[i].
SweepPlan TrialSweep(const ValidationPlan& plan);

inline constexpr const char* kChannelValidationRecord = "channel_validation";
// Attribute of a preliminary record: the number of examples over which the final record averages.
inline constexpr const char* kPlannedExamples = "planned_examples";
// Returns record channel_validation, with the settings of TrialSweep: trial_channel (-1 for none),
// trial_factor, control, loss (ValidationLoss), loss_difference from `none`, paired by example,
// both with 95 % intervals _low and _high by Student's t [setting]; place_loss [setting, place].
// Attributes: loss_rule, best (the setting with the lowest loss that is not a control; -1 without
// trials), best_control (-1 without controls), chosen (`best` if its loss_difference_high is below
// 0, else -1), setting (text of the chosen setting, or "none"), task, seed, examples. The interval
// of `best` is not corrected for selection.
Record ChannelValidationRecord(const ValidationPlan& plan, const SweepResult& result);

}  // namespace midscope
