// SPDX-License-Identifier: MIT
// Replaces names of passages in an intervention by tokens of one prompt.
#pragma once

#include "core/intervention/intervention.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// Returns the intervention with every passage as tokens [begin, end) of the prompt and every move
// as a shift, as the decoder requires. to=begin and to=end refer to the prompt's pieces, which are
// its passages named "WORD NUMBER" ("pair 7"); in a prompt without pieces, to the first and the
// last prompt token. Throws Error (usage) if the prompt lacks a named passage or has fewer tokens
// than a range.
Intervention ResolvePassages(const Intervention& intervention, const Prompt& prompt);

// Returns the intervention with every passage replaced by arbitrary tokens, so that it can be
// checked against a model (CompilePlans) before there is a prompt.
Intervention WithAnyPassages(const Intervention& intervention);

}  // namespace midscope
