// SPDX-License-Identifier: MIT
// How many tokens a run may have.
#pragma once

#include <cstdint>
#include <string>

#include "core/intervention/intervention.h"
#include "core/model/model_config.h"

namespace midscope {

// What the model is made for under the intervention, in tokens: its trained context, or more where
// the position scheme is made for more: as many times as it stretches positions (pi, ntk, yarn;
// ms-poe and ratios by their smallest ratio; base by the factor that the NTK-aware rule would give
// for it), and INT64_MAX where it follows the sequence (dynamic-ntk, dynamic-linear), keeps
// distances within what was trained (self-extend, infini), or where the model's positions are
// ALiBi, whose slopes hold at any distance.
int64_t ContextOf(const Intervention& intervention, const ModelConfig& config);

// How many tokens may be run: ContextOf, or INT64_MAX where the decoder was opened with
// DecoderOptions::beyond_context.
int64_t LongestRun(const Intervention& intervention, const ModelConfig& config);

// What errors say of it: "the model's context holds 8192"; where the scheme makes it more, "...
// holds 16384 under this position scheme".
std::string ContextHolds(const Intervention& intervention, const ModelConfig& config);

// Whether a run of so many tokens is longer than ContextOf, and what to say of it: "9000 tokens are
// beyond the context: ...". Both for runs that beyond_context permits.
bool IsBeyondContext(int64_t tokens, const Intervention& intervention, const ModelConfig& config);
std::string BeyondContextText(int64_t tokens, const Intervention& intervention,
                              const ModelConfig& config);

// What a run beyond the context means, for notes under tables.
inline constexpr const char* kBeyondContextMeaning =
    "positions that the model was not trained on are used as they are; such numbers show how it "
    "fails there, not how well it does the task";

}  // namespace midscope
