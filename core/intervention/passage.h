// SPDX-License-Identifier: MIT
// Names of passages in an intervention become tokens of one prompt.
#pragma once

#include "core/intervention/intervention.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// The intervention with every passage as tokens [begin, end) of the prompt and every move as a
// shift, as the decoder requires. to=begin and to=end go by the prompt's pieces, which are its
// passages named "WORD NUMBER" ("pair 7"); in a prompt without pieces the first token is the
// beginning and the last prompt token the end. Throws Error (usage): the prompt has no such
// passage, or fewer tokens.
Intervention ResolvePassages(const Intervention& intervention, const Prompt& prompt);

// Stand-in tokens for every name, so that an intervention can be checked against a model
// (CompilePlans) before there is a prompt.
Intervention WithAnyPassages(const Intervention& intervention);

}  // namespace midscope
