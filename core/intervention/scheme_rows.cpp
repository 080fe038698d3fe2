// SPDX-License-Identifier: MIT
#include "core/intervention/scheme_rows.h"

#include <string_view>

#include "core/intervention/intervention_values.h"
#include "core/intervention/term_form.h"

namespace midscope {

Parameter DescribedSchemeRows() {
  return DescribedRows(
      "Query rows that see the changed positions, their own and those of all keys; the others see "
      "the model's own.",
      "all");
}

RowChoice ReadSchemeRows(const TextTerm& term) {
  const Parameter described = DescribedSchemeRows();
  const TextArgument* rows = Find(term, described.name);
  return rows ? ReadRows(*rows, described) : RowChoice{ChannelRows::kAll};
}

std::string WithSchemeRows(std::string term, const RowChoice& rows) {
  if (rows == RowChoice{ChannelRows::kAll}) return term;
  const Parameter described = DescribedSchemeRows();
  const std::string argument = described.name + "=" + RowsText(rows, described);
  if (!term.ends_with(')')) return term + "(" + argument + ")";
  term.pop_back();
  return term + (term.ends_with('(') ? "" : ", ") + argument + ")";
}

}  // namespace midscope
