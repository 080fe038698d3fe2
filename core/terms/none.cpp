// SPDX-License-Identifier: MIT
// The model's own positions: a text form that adds no term.
#include "core/terms/terms.h"

namespace midscope::none {

TermType Type() {
  TermType type;
  type.name = "none";
  type.summary = "Nothing is changed.";
  type.examples = {"none"};
  type.small_example = "none";
  type.stage = TermStage::kPositions;
  type.add = [](const TextTerm&, Intervention&) {};
  return type;
}

}  // namespace midscope::none
