// SPDX-License-Identifier: MIT
// Reads rows of the residual stream after each layer as tokens, through the model's final norm and
// output: the logit lens or, with matrices that transport a layer's stream to the last layer's, the
// Jacobian lens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/base/record.h"
#include "core/formats/jacobian_lens.h"
#include "probes/base/probe.h"

namespace midscope {

// Returns the options lens-top and lens-at, which the probes logit_lens and jacobian_lens share.
std::vector<Parameter> LayerLensOptions();

// Makes record `name`:
//   lens_token_ids, lens_token_text, lens_logit, lens_probability [layer, rank]
//                 the first --lens-top tokens of the last prompt row
//   answer_rank (0: the likeliest), answer_logit, answer_log_probability (nats) [layer]
//                 of the answer's first token, if there is an answer
//   row_token_text, row_token_probability, row_answer_rank, row_answer_log_probability [layer,
//                 position]: the same values for the rows of --lens-at, with only the likeliest
//                 token
// `lens`: the matrices; axis layer then lists the layers that have a matrix, and the last layer
// with the identity. Null: all layers, without matrices. Throws Error if the lens does not fit the
// model.
std::unique_ptr<Probe> MakeLayerLens(const ProbeInput& input, const std::string& name,
                                     std::unique_ptr<const JacobianLensFile> lens);

// Returns record NAME_by_place of a stacked record NAME with an answer: means over samples
// mean_answer_log_probability, mean_answer_rank, answer_first_share [place, layer] and, with
// --lens-at, mean_best_row_answer_rank [place, layer], the mean lowest rank among those rows.
Record LayerLensByPlace(const Record& stacked);

// Implements ProbeType::summarise of the lens probes: LayerLensByPlace if there is an answer.
std::vector<Record> SummariseLayerLens(const Record& stacked);

}  // namespace midscope
