// SPDX-License-Identifier: MIT
// The user's own questions: a JSONL file of context pieces, question and answers.
#pragma once

#include <string>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Each line is {"context": ["piece", ...], "gold": 2, "question": "...", "answers": ["...", ...]},
// and optionally "instruction" (comes first in the text), "scorer" (a metric's name; default
// subspan), "new_tokens" (default 100), "classes", "choices" with "choice_rule" (choices.h; the
// answers are the right ones), "id"; other fields are refused. `gold` is the 1-based number of the
// piece that contains the answer, which is moved; if no line has it, the pieces stay and there is
// one place. With `gold`, all lines must have the same number of pieces.
//
// The text: instruction and a blank line; the pieces, one per line; a blank line; "Question: ...",
// a new line, "Answer:". With template=FILE, the text is that of the file (prompt_template.h).
// Answers are stripped of white space.
TaskType OwnTaskType();
// Returns a help page about the format, with an example.
std::string OwnTaskHelp();

}  // namespace midscope
