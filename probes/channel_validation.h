// SPDX-License-Identifier: MIT
// Which positional channel to scale, and by what: each is tried on examples whose answer is known,
// and the least teacher-forced loss decides (Yu et al., arXiv 2406.02536, section 3.1: factors 0.5,
// 0, -0.5 and -1, 100 examples). The public code tries factor 0 alone, in layers 10 to 25.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/intervention.h"
#include "core/record.h"
#include "probes/sweep.h"

namespace midscope {

struct ChannelTrial {
  int64_t channel = 0;
  double factor = 0;
  bool control = false;  // a channel drawn by chance, to tell what any channel does
};

struct ValidationPlan {
  std::string task;   // in full, "list:lines=20"
  uint64_t seed = 1;  // of examples and bootstrap
  int64_t examples = 100;
  std::vector<int64_t> places;
  PromptFormat format = {};
  LayerSet layers;  // in which channels are scaled
  std::vector<ChannelTrial> trials;
};

// Every channel with every factor.
std::vector<ChannelTrial> MakeTrials(const std::vector<int64_t>& channels,
                                     const std::vector<double>& factors, bool control);

// As many channels as `candidates`, none of them, drawn by the seed.
std::vector<int64_t> ControlChannels(const std::vector<int64_t>& candidates, int64_t hidden,
                                     uint64_t seed);

// Layers that are scaled where nothing else is said: from a quarter (rounded up) to five sixths of
// the model's, 8-25 of 30; near the published ones (10-25 of 32, 10-34 of 40).
LayerSet MiddleLayers(int64_t model_layers);

// "channel(100, factor=-1, layers=8-25)".
std::string TrialText(const ChannelTrial& trial, const LayerSet& layers);

// The sweep that tries them: setting 0 is `none`, setting i + 1 is trials[i].
SweepPlan TrialSweep(const ValidationPlan& plan);

// Record `channel_validation`, settings as in TrialSweep: trial_channel (-1 for none),
// trial_factor, control, loss (nats of the answer, mean over places and examples), loss_difference
// to `none` example by example, both with 95 % bootstrap intervals _low and _high [setting];
// place_loss [setting, place]. Attributes best (setting of the least loss that is no control; -1
// where there are no trials), best_control (-1 without), chosen (`best` where its
// loss_difference_high is below 0, else -1), setting (the chosen one's text, "none" where there is
// none), task, seed, examples. The interval of the best is not widened for its having been chosen
// among others.
Record ChannelValidationRecord(const ValidationPlan& plan, const SweepResult& result);

}  // namespace midscope
