// SPDX-License-Identifier: GPL-3.0-or-later
// The head that is shown until the user selects one.
#pragma once

#include "core/base/record.h"
#include "core/base/spans.h"
#include "gui/base/view_types.h"

namespace midscope {

// The gold passage of a record `prompt`; empty for none.
TokenSpan GoldTokens(const Record& prompt);

// Returns the head with the largest sum of attention over `tokens`; L0H0 where there are none.
// `attention`: a record with last_query_attention [layer, head, key].
HeadId MostAttentionOn(const Record& attention, const TokenSpan& tokens);

}  // namespace midscope
