// SPDX-License-Identifier: MIT
// The prompts on which midscope lens fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope::cli {

// Returns --samples prompts of at most --tokens tokens, and of at least kLeastLensTokens:
//   --data  the beginnings of the documents, in order; if there are fewer documents than samples,
//           then the second pieces of --tokens tokens of the documents, and so on. Each begins with
//           the model's begin-of-text token if its tokenizer adds one.
//   --task  the beginnings of the task's samples with their answers; the places of the gold piece
//           take turns.
// The first N prompts do not depend on --samples >= N. Throws Error, also if there are too few, and
// Cancelled.
std::vector<std::vector<int32_t>> LensPrompts(const OptionSet& options, const Tokenizer& tokenizer,
                                              const JobContext& context);

// Returns a text that is equal only for the same prompts but for their number. Throws Error.
std::string LensPromptsText(const OptionSet& options);

}  // namespace midscope::cli
