// SPDX-License-Identifier: MIT
// Determines which rows of a run change under a new intervention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// A value beyond every row: nothing changes.
inline constexpr int64_t kNoRow = INT64_MAX;

// Whether the layer's ratios are computed from the last prompt row.
bool DecidedByLastRow(const AttentionPlan& plan);

// Whether a run of the layer stores more in a trace than keys and values: sums of heads' outputs,
// means of channels, a compressive memory.
bool LeavesData(const AttentionPlan& plan);

// Returns [layer]: the first row whose result differs between `after` and `before`; kNoRow if none
// does. It never increases from layer to layer, because later rows see the changed ones. Ratios
// that are computed from the last prompt row are not compared, because they may change whenever an
// earlier layer does: after a change to any row, the next layer with such a rule is changed from
// the first row that uses these ratios. If a layer takes means of channels over the prompt's rows,
// a change to any row changes all of them. `before` has such ratios filled in. Both are plans of
// one sequence: [layer].
std::vector<int64_t> FirstChangedRows(std::span<const AttentionPlan> before,
                                      std::span<const AttentionPlan> after);

// Returns the first row of each layer that has to run if nothing is stored of the layers below
// `first_layer`: row 0 in all of those, if any of them changes. `rows`: length of the sequence.
std::vector<int64_t> FirstRowsToRun(std::vector<int64_t> changed_rows, int64_t first_layer,
                                    int64_t rows);

// Throws Error (usage) that names `term` if the model lacks one of the layers.
void CheckLayers(const LayerSet& layers, const ModelConfig& config, const std::string& term);

// Throws Error (usage) if a layer has a sliding window. It names `term` and the first such layer,
// with the text "layer 3 sees the last 128 keys alone", followed by `why`, the reason why that is
// wrong.
void CheckNoWindow(std::span<const AttentionPlan> plans, const std::string& term,
                   const std::string& why);

// Returns the chosen rows of a sequence with this number of prompt tokens; an end of INT64_MAX
// means the sequence's end.
RowRange RowsOf(const RowChoice& choice, int64_t prompt_tokens);

}  // namespace midscope
