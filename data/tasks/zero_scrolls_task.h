// SPDX-License-Identifier: MIT
// ZeroSCROLLS (Shaham et al. 2023, arXiv 2305.14196) over one of its JSONL files. There is one
// place: the text that answers is spread over the document.
#pragma once

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Fields: id, input (the whole prompt), output, and the character offsets document_start_index,
// document_end_index, query_start_index, query_end_index of the spans "context" and "question".
// `tokens` other than 0 cuts a longer prompt as the public code does (process_model_input of
// experiments/hf/run_hf_model.py, github.com/tau-nlp/zero_scrolls): the query and, before it, the
// line's truncation_seperator (sic) stay, and so much of the document's beginning as they leave
// room for. The code puts token ids together, here the texts are, and are tokenised as one; and it
// counts the end-of-text token of T5.
//
// Lines that follow one another with one id are one sample with several answers. 1024 new tokens,
// as in the public code. The benchmark's table has the geometric mean of mean ROUGE scores
// (GeometricMeanOfMeans), which sweeps form of the samples' ROUGE scores; a sample's own score is
// the geometric mean of its own.
TaskType ZeroScrollsTaskType();

}  // namespace midscope
