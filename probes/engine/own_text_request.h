// SPDX-License-Identifier: MIT
// Converts the own text of a request to the text that is sent.
#pragma once

#include "core/tokenizer/prompt.h"
#include "data/tasks/pieces_task.h"
#include "probes/engine/engine.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

// Returns a request's own text followed by its question, in the format of the task `jsonl`; the
// gold passage is one of the returned spans.
OwnText OwnTextOf(const PromptRequest& request);

// Returns a request's own text with its question, and as byte ranges its pieces, if any, and all
// passages. Throws Error (usage) if the text is not UTF-8 or a passage is not found.
PiecesText PiecesTextOf(const PromptRequest& request);

}  // namespace midscope
