// SPDX-License-Identifier: MIT
// Multiple choice in MMLU's format (Hendrycks et al. 2020, arXiv 2009.03300), over its CSV files.
#pragma once

#include <string>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// A file SUBJECT_test.csv of rows question, A, B, C, D, letter. With shots > 0 the examples are the
// first rows of SUBJECT_dev.csv beside it, or in the folder dev/ beside its own. The prompt is the
// public code's, which puts two spaces in front of the subject. The choices " A" to " D" are
// compared by likelihood (TaskSample::choices); generated text by the first letter that is a
// separate word. One place.
TaskType ChoiceTaskType();
// The file that the examples come from; "" with shots=0.
std::string ChoiceExamplesFile(const TaskSpec& spec);

}  // namespace midscope
