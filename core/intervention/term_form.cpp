// SPDX-License-Identifier: MIT
#include "core/intervention/term_form.h"

namespace midscope {

Parameter DescribedLayers(const std::string& help, const std::string& by_default) {
  Parameter layers = TextParameter("layers", help);
  layers.kind = ParameterKind::kLayers;
  if (!by_default.empty()) layers.default_value = by_default;
  return layers;
}

Parameter DescribedRows(const std::string& help, const std::string& by_default) {
  Parameter rows = ChoiceParameter(
      "rows",
      help +
          " answer: the last prompt row and all answer rows. last: the last prompt row alone. "
          "last:N: the last N prompt rows and all answer rows. all: every row.",
      {"answer", "last", "last:N", "all"});
  rows.kind = ParameterKind::kRows;
  rows.numbered_choice = "last:N";
  rows.minimum = 1;
  rows.maximum = kEveryLayerAfter;
  rows.default_value = by_default;
  return rows;
}

Parameter DescribedSpan() {
  Parameter span = Required(TextParameter(
      "span",
      "The passage: its name (gold; \"pair 7\" in quotation marks where it has spaces), or "
      "tokens as 400:600, the last not included."));
  span.kind = ParameterKind::kSpan;
  return span;
}

Parameter DescribedHeads() {
  Parameter heads = Required(TextParameter(
      "head",
      "A head as L12H3, or a key head with all query heads that read it as L12G1; several in "
      "brackets; zero-based."));
  heads.kind = ParameterKind::kHeads;
  return heads;
}

}  // namespace midscope
