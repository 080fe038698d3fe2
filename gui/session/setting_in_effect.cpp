// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/setting_in_effect.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace midscope {
namespace {

// Whether positions stay as they are.
bool KeepsPositions(const PositionScheme& scheme) {
  if (const auto* pi = std::get_if<PositionInterpolation>(&scheme)) return pi->ratio == 1;
  if (const auto* ms_poe = std::get_if<MsPoe>(&scheme)) return ms_poe->min == 1 && ms_poe->max == 1;
  if (const auto* table = std::get_if<HeadRatioTable>(&scheme)) {
    return std::all_of(table->ratios.begin(), table->ratios.end(),
                       [](double ratio) { return ratio == 1; });
  }
  return false;
}

}  // namespace

Intervention InEffect(const Intervention& intervention) {
  Intervention rest = intervention;
  if (KeepsPositions(rest.positions)) {
    rest.positions = NoScheme{};
    rest.position_rows = Intervention().position_rows;
  }
  std::erase_if(rest.channels, [](const ChannelScaling& one) { return one.factor == 1; });
  std::erase_if(rest.boosts, [](const Boost& one) { return one.factor == 1; });
  std::erase_if(rest.temperatures, [](const Temperature& one) { return one.temperature == 1; });
  std::erase_if(rest.moves, [](const Move& one) {
    return one.to == MoveTo::kShift && one.shift == 0 && !one.to_tokens;
  });
  return rest;
}

}  // namespace midscope
