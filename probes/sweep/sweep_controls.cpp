// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_controls.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/random.h"
#include "core/intervention/head_ratio_file.h"

namespace midscope {
namespace {

// Distinct from those of tasks and resamples.
constexpr uint64_t kControlStream = 0xc0117201;
// The stream of seeds of orders.
constexpr uint64_t kSeeds = 1000000;

// Replaces every channel by one that the setting does not scale.
bool RandomiseChannels(Intervention& intervention, int64_t hidden, SplitMix64& random) {
  if (intervention.channels.empty()) return false;
  std::vector<int64_t> others;
  others.reserve(static_cast<size_t>(hidden));
  for (int64_t channel = 0; channel < hidden; ++channel) {
    const bool scaled =
        std::any_of(intervention.channels.begin(), intervention.channels.end(),
                    [&](const ChannelScaling& scaling) { return scaling.channel == channel; });
    if (!scaled) others.push_back(channel);
  }
  // A channel that is scaled twice gets one replacement.
  std::vector<std::pair<int64_t, int64_t>> drawn;
  for (ChannelScaling& scaling : intervention.channels) {
    const auto known = std::find_if(drawn.begin(), drawn.end(), [&](const auto& pair) {
      return pair.first == scaling.channel;
    });
    if (known == drawn.end()) {
      if (others.empty()) return false;
      const auto at = others.begin() + static_cast<std::ptrdiff_t>(random.Below(others.size()));
      drawn.emplace_back(scaling.channel, *at);
      scaling.channel = *at;
      others.erase(at);
    } else {
      scaling.channel = known->second;
    }
  }
  return true;
}

bool RandomiseOrder(Intervention& intervention, SplitMix64& random) {
  auto* ms_poe = std::get_if<MsPoe>(&intervention.positions);
  if (!ms_poe || ms_poe->order == MsPoeOrder::kRandom) return false;
  ms_poe->order = MsPoeOrder::kRandom;
  ms_poe->seed = random.Below(kSeeds);
  return true;
}

// Assigns each layer's ratios to other heads; returns false where all are equal, so that nothing
// changes.
bool RandomiseRatios(Intervention& intervention, SplitMix64& random) {
  auto* table = std::get_if<HeadRatioTable>(&intervention.positions);
  if (!table || table->shuffle) return false;
  const std::vector<double> before = table->ratios;
  // A random order may leave all ratios unchanged, mostly where few heads differ.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    HeadRatioTable shuffled = ShuffledRatios(*table, random.Below(kSeeds));
    if (shuffled.ratios == before) continue;
    *table = std::move(shuffled);
    return true;
  }
  return false;
}

}  // namespace

std::vector<SweepSetting> ControlSettings(const std::vector<SweepSetting>& settings,
                                          const ModelConfig& config, uint64_t seed) {
  std::vector<SweepSetting> controls;
  for (size_t i = 0; i < settings.size(); ++i) {
    SplitMix64 random(seed, kControlStream + i);
    SweepSetting control = settings[i];
    const bool channels = RandomiseChannels(control.intervention, config.hidden, random);
    const bool order = RandomiseOrder(control.intervention, random);
    const bool ratios = RandomiseRatios(control.intervention, random);
    if (!channels && !order && !ratios) continue;
    control.text = control.canonical();
    control.control_of = settings[i].text;
    controls.push_back(std::move(control));
  }
  return controls;
}

std::vector<std::string> SettingsWithoutControl(const std::vector<SweepSetting>& settings) {
  std::vector<std::string> without;
  for (const SweepSetting& setting : settings) {
    if (!setting.control_of.empty()) continue;
    const bool has_one = std::any_of(
        settings.begin(), settings.end(),
        [&](const SweepSetting& control) { return control.control_of == setting.text; });
    if (!has_one && !setting.intervention.empty()) without.push_back(setting.text);
  }
  return without;
}

}  // namespace midscope
