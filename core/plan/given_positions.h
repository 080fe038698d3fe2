// SPDX-License-Identifier: MIT
// The position ids that an intervention gives to a prompt's tokens.
#pragma once

#include <cstdint>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"

namespace midscope {

// Ids of a file, or drawn by the sampler (its sample 0): they depend on the number of tokens and
// the setting alone. Not given() where the intervention gives none. Throws Error (usage) where a
// file has another number of ids than the prompt has tokens, or the sampler cannot make such a
// sample.
PositionIds PositionIdsOf(const Intervention& intervention, int64_t prompt_tokens);

// The rows that see the given ids; all of them where none are given.
RowRange RowsOfIds(const Intervention& intervention, int64_t prompt_tokens);

// How many positions a sequence of `rows` rows takes of the model's: the largest id + 1, or `rows`
// where no ids are given. Throws what PositionIdsOf throws.
int64_t PositionsTaken(const Intervention& intervention, int64_t prompt_tokens, int64_t rows);

// Throws Error (usage) where ids are given and a sequence takes more positions than LongestRun
// (context_limit.h) permits. PositionsTaken throws as well.
void CheckPositionsHeld(const Intervention& intervention, const ModelConfig& config,
                        int64_t prompt_tokens, int64_t rows);

}  // namespace midscope
