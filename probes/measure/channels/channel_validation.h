// SPDX-License-Identifier: MIT
// Selects the positional channel to scale, and its factor: each is tried on examples whose answer
// is known, and the least teacher-forced loss is chosen (Yu et al., arXiv 2406.02536, section 3.2;
// section 4.1 has the factors 0.5, 0, -0.5 and -1 and the 100 examples). The public code tries
// factor 0 only, in layers 10 to 25, with another loss (kCodeLoss).
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
  bool control = false;  // a random channel, to measure the effect of any channel
};

// The paper states only "loss". The default is Midscope's definition: nats summed over the answer's
// tokens, mean over places and examples.
struct ValidationLoss {
  bool per_token = false;  // mean over the answer's tokens, not their sum
  bool one_place = false;  // example i at place i modulo the number of places, not at all
  bool rounded = false;    // the mean over examples, to 4 decimals
  bool operator==(const ValidationLoss&) const = default;
};
// Loss of the public code.
inline constexpr ValidationLoss kCodeLoss = {true, true, true};

struct ValidationPlan {
  std::string task;   // with all parameters, "list:lines=20"
  uint64_t seed = 1;  // of examples
  int64_t examples = 100;
  std::vector<int64_t> places;
  PromptFormat format = {};
  LayerSet layers;  // layers in which channels are scaled
  ValidationLoss loss = {};
  std::vector<ChannelTrial> trials;
};

// Every channel with every factor.
std::vector<ChannelTrial> MakeTrials(const std::vector<int64_t>& channels,
                                     const std::vector<double>& factors, bool control);

// Random channels by the seed, as many as `candidates`, none of them among these.
std::vector<int64_t> ControlChannels(const std::vector<int64_t>& candidates, int64_t hidden,
                                     uint64_t seed);

// Default layers: from a quarter (rounded up) to five sixths of the model's, 8-25 of 30; near the
// published ones.
LayerSet MiddleLayers(int64_t model_layers);

// The paper's own (Table 5), by the number of layers: 10-22 of 28, 10-25 of 32, 10-34 of 40, 10-42
// of 48. nullopt if the paper has no model with that number.
std::optional<LayerSet> PublishedLayers(int64_t model_layers);

// "channel(100, factor=-1, layers=8-25)".
std::string TrialText(const ChannelTrial& trial, const LayerSet& layers);

// The sweep that tries them: setting 0 is `none`, setting i + 1 is trials[i].
SweepPlan TrialSweep(const ValidationPlan& plan);

inline constexpr const char* kChannelValidationRecord = "channel_validation";
// Record channel_validation, settings as in TrialSweep: trial_channel (-1 for none),
// trial_factor, control, loss (ValidationLoss), loss_difference to `none` paired by example, both
// with 95 % intervals _low and _high by Student's t [setting]; place_loss [setting, place].
// Attributes loss_rule, best (the setting with the least loss that is not a control; -1 without
// trials), best_control (-1 without), chosen (`best` where its loss_difference_high is below 0,
// else -1), setting (the chosen one's text, "none" for none), task, seed, examples. The interval of
// the best is not corrected for selection.
Record ChannelValidationRecord(const ValidationPlan& plan, const SweepResult& result);

}  // namespace midscope
