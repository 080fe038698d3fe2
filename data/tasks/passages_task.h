// SPDX-License-Identifier: MIT
// Own texts in a file, with passages marked by their bytes.
#pragma once

#include <string>

#include "data/tasks/pieces_task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// `passages:file=FILE`: a JSON object per line, a sample each:
//   {"text": "...", "answer": " paper", "gold": [12, 40], "pieces": [[0, 40], [41, 80]],
//    "spans": {"question": [90, 120]}}
// Byte ranges of `text`, the end not included. The text is sent as it is, and the answer follows it
// as it is. The piece that holds `gold` moves among the others (pieces_task.h); without pieces
// there is one place. All lines have as many pieces as the first.
TaskType PassagesTaskType();

// The text as a line of such a file, with its line end. Pieces and gold may be missing.
std::string PassagesLine(const PiecesText& text);

}  // namespace midscope
