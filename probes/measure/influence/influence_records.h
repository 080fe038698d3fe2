// SPDX-License-Identifier: MIT
// Gradients by token, layer, passage and part of the prompt, and their means by place of the gold
// piece.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/record.h"
#include "core/tokenizer/prompt.h"
#include "core/tuning/activation_gradients.h"
#include "probes/measure/influence/influence_names.h"

namespace midscope {

// Returns the name of the array that estimates the effect of `ablate` on each head, with mean or
// zero, in all rows or only the answer rows: head_zero_effect, head_mean_effect, ..._all_rows.
std::string HeadEstimateName(bool with_mean, bool all_rows);

// Name of the array [layer, head] that estimates patches of the last row (ActivationGradients), if
// there is a source.
inline constexpr const char* kHeadPatchEstimate = "head_patch_effect";

// Makes record influence of one prompt, of which NAME is answer_gradient (if it has an answer) and
// output_gradient (if there were cotangents):
//   NAME [layer, token]        norm of the gradient with respect to the token's stream
//   NAME_gold, NAME_distractors, NAME_question [layer]
//                              mean of NAME over the tokens of the passage; NaN if there are none.
//                              Distractors are the passages that do not overlap gold or question.
//   NAME_by_part [layer, part] mean over the tokens of each of `parts` equal parts of the prompt,
//                              divided by the mean over all its tokens
//   NAME_by_share [share]      the same at the embeddings, in a hundred parts
// and the estimates [layer, head] of head ablations (HeadEstimateName); attributes answer_nll and
// prompt_tokens.
Record InfluenceRecord(const Prompt& prompt, const ActivationGradients& found, int64_t parts);

// Makes record influence_by_place of records influence that are stacked over [sample, place]: means
// over samples [place, ...] of all arrays except those by token, and of NAME_by_share over samples
// and places, [share] (NAME: answer_gradient or output_gradient); NAME_gold_low and _high;
// NAME_gold_ratio, with _low and _high [place, layer]: the geometric mean over samples of NAME_gold
// / NAME_distractors. _low and _high are 95 % intervals by Student's t, for the ratio computed on
// logarithms; answer_nll [place]; with output_gradient also the closed form (kClosedForm).
Record InfluenceByPlace(const Record& stacked);

}  // namespace midscope
