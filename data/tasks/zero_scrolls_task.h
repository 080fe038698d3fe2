// SPDX-License-Identifier: MIT
// ZeroSCROLLS (Shaham et al. 2023, arXiv 2305.14196) over one of its JSONL files. There is one
// place, because the evidence for the answer is spread over the document.
#pragma once

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Fields: id, input (the whole prompt), output, and the character offsets document_start_index,
// document_end_index, query_start_index, query_end_index of the spans "context" and "question".
// `tokens` other than 0 cuts a longer prompt as the public code does (process_model_input of
// experiments/hf/run_hf_model.py, github.com/tau-nlp/zero_scrolls): the query and, before it, the
// line's truncation_seperator (sic) stay, and as much of the document's beginning as fits. Unlike
// here, that code concatenates token ids rather than texts, and counts the end-of-text token of T5.
//
// Consecutive lines with the same id are one sample with several answers. 1024 new tokens are
// generated, as in the public code. The benchmark's table has the geometric mean of mean ROUGE
// scores (GeometricMeanOfMeans), which sweeps compute from the samples' ROUGE scores; the score of
// one sample is the geometric mean of its three ROUGE scores.
TaskType ZeroScrollsTaskType();

}  // namespace midscope
