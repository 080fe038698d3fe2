// SPDX-License-Identifier: MIT
// The positions that a run takes, and how many the model supports.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"

namespace midscope {

// Returns the number of tokens that the model supports under the intervention: its trained context,
// times the position scheme's factor if that is above 1. INT64_MAX if the scheme's factor grows
// with the sequence or it keeps distances within the trained range (TermType::stretch), and if the
// model uses ALiBi, whose slopes hold at any distance. Learned positions are limited to those in
// the file, whatever the scheme.
int64_t ContextOf(const Intervention& intervention, const ModelConfig& config);

// Returns how many tokens may be run: ContextOf, or INT64_MAX if the decoder was opened with
// DecoderOptions::beyond_context. Models with learned positions cannot exceed the context in either
// case.
int64_t LongestRun(const Intervention& intervention, const ModelConfig& config);

// Returns a phrase for errors about it: "the model's context holds 8192"; if the scheme makes it
// more, "... holds 16384 under this position scheme".
std::string ContextHolds(const Intervention& intervention, const ModelConfig& config);

// Whether a run of `tokens` tokens is longer than ContextOf, and the note about it: "9000 tokens
// are beyond the context: ...". Both are for runs that beyond_context permits; `tokens` is
// PositionsTaken.
bool IsBeyondContext(int64_t tokens, const Intervention& intervention, const ModelConfig& config);
std::string BeyondContextText(int64_t tokens, const Intervention& intervention,
                              const ModelConfig& config);

// Explains results of a run beyond the context, in notes under tables.
inline constexpr const char* kBeyondContextMeaning =
    "positions that the model was not trained on are used as they are; such numbers show how it "
    "fails there, not how well it does the task";

// Returns the position ids that an intervention gives to a prompt's tokens: those of the file, or
// those that the sampler draws (its sample 0); they depend only on the number of tokens and the
// setting. given() is false if the intervention gives no ids. Throws Error (usage) if a file's
// number of ids is not the prompt's number of tokens, or the sampler cannot make such a sample.
PositionIds PositionIdsOf(const Intervention& intervention, int64_t prompt_tokens);

// Returns the rows that see the given ids; all rows if none are given.
RowRange RowsOfIds(const Intervention& intervention, int64_t prompt_tokens);

// Returns how many of the model's positions a sequence of `rows` rows takes: the largest id + 1, or
// `rows` if no ids are given. Throws Error in the same cases as PositionIdsOf.
int64_t PositionsTaken(const Intervention& intervention, int64_t prompt_tokens, int64_t rows);

// Throws Error (usage) if ids are given and a sequence takes more positions than LongestRun
// permits, and in the same cases as PositionsTaken.
void CheckPositionsHeld(const Intervention& intervention, const ModelConfig& config,
                        int64_t prompt_tokens, int64_t rows);

}  // namespace midscope
