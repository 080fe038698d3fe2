// SPDX-License-Identifier: MIT
// ZeroSCROLLS (Shaham et al. 2023, arXiv 2305.14196) over one of its JSONL files. There is one
// place: what answers is spread over the document.
#pragma once

#include <string_view>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Fields: id, input (the whole prompt), output, and the character offsets document_start_index,
// document_end_index, query_start_index, query_end_index of the spans "context" and "question".
// Lines that follow one another with one id are one sample with several answers. 1024 new tokens,
// as in the public code. The benchmark's table has the geometric mean of mean ROUGE scores
// (GeometricMeanOfMeans), which sweeps form of the samples' ROUGE scores; a sample's own score is
// the geometric mean of its own.
TaskType ZeroScrollsTaskType();
// Whether the score of a task of this name (Task::name()) is the geometric mean of ROUGE scores.
bool IsScoredByRougeMeans(std::string_view task_name);

}  // namespace midscope
