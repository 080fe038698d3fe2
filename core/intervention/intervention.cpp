// SPDX-License-Identifier: MIT
#include "core/intervention/intervention.h"

#include <algorithm>
#include <array>

namespace midscope {

LayerSet LayerSet::From(int64_t first) { return {false, {{first, kEveryLayerAfter}}}; }

bool LayerSet::Contains(int64_t layer) const {
  return all || std::any_of(ranges.begin(), ranges.end(), [layer](const Range& range) {
           return range.first <= layer && layer <= range.last;
         });
}

std::string LayerSet::Text() const {
  if (all) return "all";
  std::string text;
  for (const Range& range : ranges) {
    if (!text.empty()) text += ",";
    text += std::to_string(range.first);
    if (range.last != range.first) text += "-" + std::to_string(range.last);
  }
  return ranges.size() == 1 ? text : "[" + text + "]";
}

std::string HeadName::Text() const {
  return "L" + std::to_string(layer) + (group ? "G" : "H") + std::to_string(head);
}

std::string_view SchemeName(const PositionScheme& scheme) {
  // In the order of the variant.
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"none", "pi", "base", "ntk", "dynamic-ntk", "dynamic-linear", "yarn", "nope", "ratios",
       "ms-poe", "self-extend", "infini"});
  static_assert(kNames.size() == std::variant_size_v<PositionScheme>);
  return kNames.at(scheme.index());
}

}  // namespace midscope
