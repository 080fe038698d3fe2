// SPDX-License-Identifier: MIT
// The task for a user's file of texts in which passages are marked by byte ranges.
#pragma once

#include <string>

#include "data/tasks/pieces_task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// `passages:file=FILE`: each line is a JSON object and makes one sample:
//   {"text": "...", "answer": " paper", "gold": [12, 40], "pieces": [[0, 40], [41, 80]],
//    "spans": {"question": [90, 120]}}
// Ranges are byte ranges of `text`, the end excluded. Text and answer are used unchanged. The piece
// that contains `gold` moves among the others (pieces_task.h); without pieces there is one place.
// All lines must have the same number of pieces.
TaskType PassagesTaskType();

// Returns a text as a JSON line for passages:file=FILE, including the line end. The text may lack
// pieces and gold passage.
std::string PassagesLine(const PiecesText& text);

}  // namespace midscope
