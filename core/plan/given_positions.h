// SPDX-License-Identifier: MIT
// Determines the position ids that an intervention gives to a prompt's tokens.
#pragma once

#include <cstdint>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"

namespace midscope {

// Returns the ids of the file, or those that the sampler draws (its sample 0); they depend only on
// the number of tokens and the setting. given() is false if the intervention gives no ids. Throws
// Error (usage) if a file's number of ids is not the prompt's number of tokens, or the sampler
// cannot make such a sample.
PositionIds PositionIdsOf(const Intervention& intervention, int64_t prompt_tokens);

// Returns the rows that see the given ids; all rows if none are given.
RowRange RowsOfIds(const Intervention& intervention, int64_t prompt_tokens);

// Returns how many of the model's positions a sequence of `rows` rows takes: the largest id + 1, or
// `rows` if no ids are given. Throws Error in the same cases as PositionIdsOf.
int64_t PositionsTaken(const Intervention& intervention, int64_t prompt_tokens, int64_t rows);

// Throws Error (usage) if ids are given and a sequence takes more positions than LongestRun
// (context_limit.h) permits, and in the same cases as PositionsTaken.
void CheckPositionsHeld(const Intervention& intervention, const ModelConfig& config,
                        int64_t prompt_tokens, int64_t rows);

}  // namespace midscope
