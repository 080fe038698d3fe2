// SPDX-License-Identifier: MIT
// How many tokens a run may have.
#pragma once

#include <cstdint>
#include <string>

#include "core/intervention/intervention.h"
#include "core/model/model_config.h"

namespace midscope {

// The tokens that the model is made for under the intervention: its trained context, or that times
// what the position scheme multiplies it by where that is more. INT64_MAX where the scheme follows
// the sequence or keeps distances within what was trained (TermType::stretch), and where the
// model's positions are ALiBi, whose slopes hold at any distance. Learned positions are as many as
// the file has, whatever the scheme.
int64_t ContextOf(const Intervention& intervention, const ModelConfig& config);

// How many tokens may be run: ContextOf, or INT64_MAX where the decoder was opened with
// DecoderOptions::beyond_context; learned positions end with the context all the same.
int64_t LongestRun(const Intervention& intervention, const ModelConfig& config);

// The text of errors about it: "the model's context holds 8192"; where the scheme makes it more,
// "... holds 16384 under this position scheme".
std::string ContextHolds(const Intervention& intervention, const ModelConfig& config);

// Whether a run of so many tokens is longer than ContextOf, and the text about it: "9000 tokens are
// beyond the context: ...". Both for runs that beyond_context permits, and of as many tokens as
// PositionsTaken (given_positions.h).
bool IsBeyondContext(int64_t tokens, const Intervention& intervention, const ModelConfig& config);
std::string BeyondContextText(int64_t tokens, const Intervention& intervention,
                              const ModelConfig& config);

// The meaning of a run beyond the context, for notes under tables.
inline constexpr const char* kBeyondContextMeaning =
    "positions that the model was not trained on are used as they are; such numbers show how it "
    "fails there, not how well it does the task";

}  // namespace midscope
