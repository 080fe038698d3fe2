// SPDX-License-Identifier: MIT
#include "core/intervention/intervention.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/intervention/scheme_type.h"

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
    if (range.last != range.first) text += fmt::format("-{}", range.last);
  }
  return ranges.size() == 1 ? text : "[" + text + "]";
}

std::string HeadName::Text() const {
  if (layer == kEveryLayer) return "all";
  const std::string first = fmt::format("L{}{}", layer, group ? "G" : "H");
  if (more >= kEveryHeadAfter) return first + "*";
  return first + (more == 0 ? std::to_string(head) : fmt::format("{}-{}", head, head + more));
}

std::string_view SchemeName(const PositionScheme& scheme) { return SchemeTypeOf(scheme).term.name; }

}  // namespace midscope
