// SPDX-License-Identifier: MIT
// A needle in a haystack (Kamradt 2023): one sentence about San Francisco in a long text, which is
// a file's, a folder's or made here. Place p is a depth of p - 1 percent of the context's tokens.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// form=answer (as in CREAM, whose describing sentence is replaced by one of ours): context, then
// question and "Answer:" in one prompt of at most `tokens` tokens; scored by ROUGE-L on the first
// line. CREAM's slip, which shifts every depth by the description's length, is not repeated.
// form=chat (Kamradt): a system message, the context, the question with its request not to go
// beyond the document; context and needle have `tokens` - 200 tokens. Kamradt's score comes from a
// judge model; here it is ROUGE-L.
//
// The needle goes behind the last full stop at or before the depth, at depth 100 to the very end.
// A full stop is a '.' before white space, where Kamradt's code takes the token '.'.
// Sample 0 begins with the text, others at a sentence drawn by the seed; a text that is too short
// is repeated, as in Kamradt's code.
TaskDescription DescribeNeedleTask();
std::unique_ptr<Task> MakeNeedleTask(const TaskSpec& spec, uint64_t seed,
                                     const TokenCounter& count_tokens);

}  // namespace midscope
