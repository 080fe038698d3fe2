// SPDX-License-Identifier: MIT
// Multiple choice in MMLU's format (Hendrycks et al. 2020, arXiv 2009.03300), over its CSV files.
#pragma once

#include <string>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Reads a file SUBJECT_test.csv with rows question, A, B, C, D, letter, or a folder of such files.
// With shots > 0, the examples are the first rows of SUBJECT_dev.csv in the same folder, or in the
// folder dev/ beside that folder. The prompt is that of the public code, which puts two spaces in
// front of the subject. The choices " A" to " D" are compared by likelihood (TaskSample::choices);
// generated text is scored by the first letter that is a separate word. There is one place.
//
// The samples of a folder are the first question of every subject, then the second of every
// subject, and so on, so that a few samples cover all subjects. TaskSample::groups are the
// subject's group (mmlu_subjects.h) and the subject.
TaskType MmluTaskType();

}  // namespace midscope
