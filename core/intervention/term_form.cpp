// SPDX-License-Identifier: MIT
#include "core/intervention/term_form.h"

namespace midscope {

TermArgument DescribedRows(const std::string& help, const std::string& by_default) {
  return {"rows",
          help +
              " answer: the last prompt row and all answer rows. last: the last prompt row alone. "
              "last:N: the last N prompt rows and all answer rows. all: every row.",
          "",
          {"answer", "last", "last:N", "all"},
          0,
          0,
          by_default};
}

TermArgument DescribedSpan() {
  return {"span",
          "The passage: its name (gold; \"pair 7\" in quotation marks where it has spaces), or "
          "tokens as 400:600, the last not included.",
          "",
          {},
          0,
          0,
          ""};
}

TermArgument DescribedHeads() {
  return {"head",
          "A head as L12H3, or a key head with all query heads that read it as L12G1; several in "
          "brackets; zero-based.",
          "",
          {},
          0,
          0,
          ""};
}

}  // namespace midscope
