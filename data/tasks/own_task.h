// SPDX-License-Identifier: MIT
// The user's own questions: a JSONL file of context pieces, question and answers.
#pragma once

#include <string>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// A line: {"context": ["piece", ...], "gold": 2, "question": "...", "answers": ["...", ...]}, and
// optionally "instruction" (comes first), "scorer" (a metric's name; default subspan),
// "new_tokens" (default 100), "classes", "choices" with "choice_rule" (choices.h; the answers are
// the right ones), "id"; other fields are refused. `gold` is the 1-based
// number of the piece that answers and is moved; without it (in all lines) the pieces stay and
// there is one place. Lines with gold have as many pieces as the first.
//
// The text: instruction and a blank line; the pieces, one per line; a blank line; "Question: ...",
// a new line, "Answer:". With template=FILE that file's text (prompt_template.h). Answers are
// stripped of white space.
TaskType OwnTaskType();
// A page on all that, with an example.
std::string OwnTaskHelp();

}  // namespace midscope
