// SPDX-License-Identifier: MIT
// Limits on the number of tokens in a run.
#pragma once

#include <cstdint>
#include <string>

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
// PositionsTaken (given_positions.h).
bool IsBeyondContext(int64_t tokens, const Intervention& intervention, const ModelConfig& config);
std::string BeyondContextText(int64_t tokens, const Intervention& intervention,
                              const ModelConfig& config);

// Explains results of a run beyond the context, in notes under tables.
inline constexpr const char* kBeyondContextMeaning =
    "positions that the model was not trained on are used as they are; such numbers show how it "
    "fails there, not how well it does the task";

}  // namespace midscope
