// SPDX-License-Identifier: MIT
// The task for a user's own questions: a JSONL or CSV file of documents, questions and answers.
#pragma once

#include <string>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Each line is a question with its documents, one or several of which are gold (own_lines.h). The
// first gold document is moved; if no line has one, the documents stay and there is one place. If
// lines with gold documents have different numbers of documents, places are depths (Task::by_depth)
// and TaskSample::gold_rank is the document's rank.
//
// The prompt: instruction and a blank line; the documents, one per line; a blank line; "Question:
// ...", a new line, "Answer:". With template=FILE, the prompt is the text of FILE with filled
// placeholders (ReadPromptTemplate). Answers are stripped of white space. Spans: "piece N", "gold",
// "gold 2", ..., "question".
TaskType OwnTaskType();
// Returns a help page about the format, with an example.
std::string OwnTaskHelp();

}  // namespace midscope
