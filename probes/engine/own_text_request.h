// SPDX-License-Identifier: MIT
// The own text of a request, as it is sent.
#pragma once

#include "core/tokenizer/prompt.h"
#include "data/tasks/pieces_task.h"
#include "probes/engine/engine.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

// With its question behind it, as the task `jsonl` has it, and the gold passage among its spans.
OwnText OwnTextOf(const PromptRequest& request);

// As above, with its pieces, if it has any, and all passages as bytes. Throws Error (usage): a text
// that is not UTF-8, a passage that is not found.
PiecesText PiecesTextOf(const PromptRequest& request);

}  // namespace midscope
