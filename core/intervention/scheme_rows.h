// SPDX-License-Identifier: MIT
// The argument `rows` of position schemes, which is the same for all of them: it says which query
// rows see the changed positions (Intervention::position_rows). Internal to core.
#pragma once

#include <string>

#include "core/base/parameter.h"
#include "core/intervention/intervention.h"
#include "core/intervention/intervention_grammar.h"

namespace midscope {

// answer, last, last:16, all; the default is all.
Parameter DescribedSchemeRows();

// What the scheme's term says of rows. Throws Error (usage).
RowChoice ReadSchemeRows(const TextTerm& term);

// The scheme's printed term with the rows added, unless they are all.
std::string WithSchemeRows(std::string term, const RowChoice& rows);

}  // namespace midscope
