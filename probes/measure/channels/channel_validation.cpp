// SPDX-License-Identifier: MIT
#include "probes/measure/channels/channel_validation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/base/text.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {
namespace {

constexpr uint64_t kControlStream = 0xc047;

// Returns whether the loss includes the example at this place.
bool IsRequested(const SampleOutcome& outcome, size_t place, size_t places, ValidationLoss loss) {
  return !loss.one_place || static_cast<size_t>(outcome.sample) % places == place;
}

double Divisor(const SampleOutcome& outcome, size_t place, ValidationLoss loss) {
  return loss.per_token ? static_cast<double>(outcome.answer_tokens[place]) : 1.0;
}

// Returns the losses of one setting by example, in ascending order of examples.
std::vector<double> ExampleLosses(const std::vector<SampleOutcome>& outcomes, size_t setting,
                                  size_t places, ValidationLoss loss) {
  std::vector<double> losses;
  losses.reserve(outcomes.size());
  for (const SampleOutcome& outcome : outcomes) {
    const auto of_places = std::span(outcome.answer_nll).subspan(setting * places, places);
    std::vector<double> here;
    for (size_t place = 0; place < places; ++place) {
      if (!IsRequested(outcome, place, places, loss)) continue;
      here.push_back(of_places[place] / Divisor(outcome, place, loss));
    }
    losses.push_back(Mean(here));
  }
  return losses;
}

// Returns the loss of one setting at one place, over the examples that are used there.
double PlaceLoss(const std::vector<SampleOutcome>& outcomes, size_t setting, size_t places,
                 size_t place, ValidationLoss loss) {
  std::vector<double> here;
  here.reserve(outcomes.size());
  for (const SampleOutcome& outcome : outcomes) {
    const double nll = outcome.answer_nll[setting * places + place];
    if (IsRequested(outcome, place, places, loss))
      here.push_back(nll / Divisor(outcome, place, loss));
  }
  return Mean(here);
}

double RoundedMean(const std::vector<double>& losses, ValidationLoss loss) {
  constexpr double kFourDecimals = 1e4;
  const double mean = Mean(losses);
  return loss.rounded ? std::round(mean * kFourDecimals) / kFourDecimals : mean;
}

std::string LossText(ValidationLoss loss) {
  std::string text = loss.per_token ? "nats, mean over the answer's tokens"
                                    : "nats, summed over the answer's tokens";
  text += loss.one_place ? ", each example at one place" : ", mean over places";
  if (loss.rounded) text += ", rounded to 4 decimals";
  if (loss == kCodeLoss) text += ", as the public code has it";
  return text;
}

struct Losses {
  std::vector<double> mean, low, high;
  std::vector<double> difference, difference_low, difference_high;
  std::vector<double> place;  // [setting, place]
};

Losses Summarise(std::vector<SampleOutcome> outcomes, size_t settings, size_t places,
                 ValidationLoss loss) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const auto& a, const auto& b) { return a.sample < b.sample; });
  const std::vector<double> unchanged = ExampleLosses(outcomes, 0, places, loss);
  Losses losses;
  for (size_t setting = 0; setting < settings; ++setting) {
    const std::vector<double> own = ExampleLosses(outcomes, setting, places, loss);
    std::vector<double> difference(own.size());
    std::transform(own.begin(), own.end(), unchanged.begin(), difference.begin(), std::minus<>());
    const Interval interval = MeanInterval(own);
    const Interval difference_interval = MeanInterval(difference);
    losses.mean.push_back(RoundedMean(own, loss));
    losses.low.push_back(interval.low);
    losses.high.push_back(interval.high);
    losses.difference.push_back(Mean(difference));
    losses.difference_low.push_back(difference_interval.low);
    losses.difference_high.push_back(difference_interval.high);
    for (size_t place = 0; place < places; ++place) {
      losses.place.push_back(PlaceLoss(outcomes, setting, places, place, loss));
    }
  }
  return losses;
}

// Returns the setting with the lowest loss among trials or, with `control`, among controls; -1 if
// there are none.
int64_t Best(const ValidationPlan& plan, const std::vector<double>& loss, bool control) {
  int64_t best = -1;
  for (size_t trial = 0; trial < plan.trials.size(); ++trial) {
    const auto setting = static_cast<int64_t>(trial + 1);
    if (plan.trials[trial].control != control) continue;
    if (best < 0 || loss[trial + 1] < loss[static_cast<size_t>(best)]) best = setting;
  }
  return best;
}

void AddTrials(const ValidationPlan& plan, Record& record) {
  std::vector<int64_t> channels = {-1};
  std::vector<double> factors = {1.0};
  std::vector<uint8_t> control = {0};
  for (const ChannelTrial& trial : plan.trials) {
    channels.push_back(trial.channel);
    factors.push_back(trial.factor);
    control.push_back(trial.control ? 1 : 0);
  }
  const std::vector<std::string> axes = {"setting"};
  record.arrays.push_back({"trial_channel", axes, std::move(channels), "", "-1: none"});
  record.arrays.push_back({"trial_factor", axes, std::move(factors), "", ""});
  record.arrays.push_back(
      {"control", axes, std::move(control), "", "whether the channel was drawn by chance"});
}

void AddLosses(Losses losses, ValidationLoss rule, Record& record) {
  const std::vector<std::string> axes = {"setting"};
  const char* low = "lower end of the 95 % interval: Student's t";
  const char* high = "upper end of the 95 % interval: Student's t";
  record.arrays.push_back({"loss", axes, std::move(losses.mean), "nats",
                           "teacher-forced loss, mean over examples: " + LossText(rule)});
  record.arrays.push_back({"loss_low", axes, std::move(losses.low), "nats", low});
  record.arrays.push_back({"loss_high", axes, std::move(losses.high), "nats", high});
  record.arrays.push_back({"loss_difference", axes, std::move(losses.difference), "nats",
                           "mean difference to none, example by example"});
  record.arrays.push_back(
      {"loss_difference_low", axes, std::move(losses.difference_low), "nats", low});
  record.arrays.push_back(
      {"loss_difference_high", axes, std::move(losses.difference_high), "nats", high});
  record.arrays.push_back({"place_loss",
                           {"setting", "place"},
                           std::move(losses.place),
                           "nats",
                           "loss by place of the gold piece"});
}

}  // namespace

std::vector<ChannelTrial> MakeTrials(const std::vector<int64_t>& channels,
                                     const std::vector<double>& factors, bool control) {
  std::vector<ChannelTrial> trials;
  for (const int64_t channel : channels) {
    for (const double factor : factors) trials.push_back({channel, factor, control});
  }
  return trials;
}

std::vector<int64_t> ControlChannels(const std::vector<int64_t>& candidates, int64_t hidden,
                                     uint64_t seed) {
  std::vector<int64_t> others(static_cast<size_t>(hidden));
  std::iota(others.begin(), others.end(), 0);
  std::erase_if(others, [&](int64_t channel) {
    return std::find(candidates.begin(), candidates.end(), channel) != candidates.end();
  });
  const size_t count = std::min(candidates.size(), others.size());
  return SplitMix64(seed, kControlStream).Draw(std::move(others), count);
}

std::string TrialText(const ChannelTrial& trial, const LayerSet& layers) {
  return fmt::format("channel({}, factor={}, layers={})", trial.channel, NumberText(trial.factor),
                     layers.Text());
}

SweepPlan TrialSweep(const ValidationPlan& plan) {
  SweepPlan sweep;
  sweep.task = plan.task;
  sweep.format = plan.format;
  sweep.seed = plan.seed;
  sweep.samples = plan.examples;
  sweep.places = plan.places;
  sweep.settings.push_back(ReadSetting("none"));
  for (const ChannelTrial& trial : plan.trials) {
    sweep.settings.push_back(ReadSetting(TrialText(trial, plan.layers)));
  }
  return sweep;
}

Record ChannelValidationRecord(const ValidationPlan& plan, const SweepResult& result) {
  const SweepPlan sweep = TrialSweep(plan);
  Losses losses = Summarise(result.outcomes, sweep.settings.size(), plan.places.size(), plan.loss);
  const int64_t best = Best(plan, losses.mean, false);
  const bool beats = best > 0 && losses.difference_high[static_cast<size_t>(best)] < 0;
  Record record;
  record.name = kChannelValidationRecord;
  record.attributes["best"] = best;
  record.attributes["best_control"] = Best(plan, losses.mean, true);
  record.attributes["chosen"] = beats ? best : int64_t{-1};
  record.attributes["setting"] = sweep.settings[beats ? static_cast<size_t>(best) : 0].text;
  record.attributes["loss_rule"] = LossText(plan.loss);
  record.attributes["layers"] = plan.layers.Text();
  record.attributes["task"] = plan.task;
  record.attributes["seed"] = static_cast<int64_t>(plan.seed);
  record.attributes["examples"] = static_cast<int64_t>(result.outcomes.size());
  record.attributes["failed_examples"] = static_cast<int64_t>(result.failures.size());
  std::vector<std::string> labels;
  for (const SweepSetting& setting : sweep.settings) labels.push_back(setting.text);
  record.axes = {LabelledAxis("setting", std::move(labels)), ValuedAxis("place", plan.places)};
  record.axes.back().unit = "rank";
  AddTrials(plan, record);
  AddLosses(std::move(losses), plan.loss, record);
  record.signal = "loss_difference";
  return record;
}

}  // namespace midscope
