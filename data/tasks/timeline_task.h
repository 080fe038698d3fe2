// SPDX-License-Identifier: MIT
// Timeline reorder: events in mixed order must be put in the order of their years. LooGLE's
// prompt and form of question (Li et al. 2023, arXiv 2311.04939), which the channel paper uses,
// over invented events; LooGLE's own questions can be given as lines for the task jsonl with the
// scorer "order". One place.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Scored by the whole order: LooGLE's paper has deviations instead, the channel paper's numbers fit
// this. The spans "event 1" ... are the events in the text, numbered as the question lists them.
TaskDescription DescribeTimelineTask();
std::unique_ptr<Task> MakeTimelineTask(const TaskSpec& spec, uint64_t seed);

}  // namespace midscope
