// SPDX-License-Identifier: GPL-3.0-or-later
// The head that is shown until the user selects one.
#pragma once

#include "core/base/record.h"
#include "gui/base/view_types.h"

namespace midscope {

// Tokens [begin, end) of the gold passage of a record `prompt`; begin == end for none.
struct TokenRange {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const TokenRange&) const = default;
};
TokenRange GoldTokens(const Record& prompt);

// Returns the head with the largest sum of attention over those tokens; L0H0 where there are none.
// `attention`: a record with last_query_attention [layer, head, key].
HeadId MostAttentionOn(const Record& attention, TokenRange tokens);

}  // namespace midscope
