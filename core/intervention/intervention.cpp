// SPDX-License-Identifier: MIT
#include "core/intervention/intervention.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/intervention/term_type.h"

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

void Intervention::Add(Term term) {
  const TermType& type = term.type();
  if (type.stage == TermStage::kPositions) {
    std::erase_if(terms,
                  [](const Term& other) { return other.type().stage == TermStage::kPositions; });
  }
  const auto behind =
      std::upper_bound(terms.begin(), terms.end(), type.order,
                       [](int order, const Term& other) { return order < other.type().order; });
  terms.insert(behind, std::move(term));
}

Intervention WithoutNeutralTerms(Intervention intervention) {
  std::erase_if(intervention.terms, [](const Term& term) {
    const TermType& type = term.type();
    return type.changes_nothing && type.changes_nothing(term);
  });
  return intervention;
}

const Term* PositionScheme(const Intervention& intervention) {
  for (const Term& term : intervention.terms) {
    if (term.type().stage == TermStage::kPositions) return &term;
  }
  return nullptr;
}

std::string PositionSchemeName(const Intervention& intervention) {
  const Term* scheme = PositionScheme(intervention);
  return scheme ? scheme->type().name : "none";
}

RowChoice PositionSchemeRows(const Intervention& intervention) {
  const Term* scheme = PositionScheme(intervention);
  return scheme ? scheme->type().rows(*scheme) : RowChoice{ChannelRows::kAll};
}

Intervention WithPositionSchemeRows(Intervention intervention, const RowChoice& rows) {
  const Term* scheme = PositionScheme(intervention);
  if (scheme && scheme->type().with_rows) intervention.Add(scheme->type().with_rows(*scheme, rows));
  return intervention;
}

}  // namespace midscope
