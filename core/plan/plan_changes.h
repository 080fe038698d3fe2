// SPDX-License-Identifier: MIT
// The effect of a changed intervention on a run, row by row.
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

// Beyond every row: nothing changes.
inline constexpr int64_t kNoRow = INT64_MAX;

// Whether the last prompt row decides the layer's ratios.
bool DecidedByLastRow(const AttentionPlan& plan);

// Whether a run of the layer leaves more in a trace than keys and values: sums of heads' outputs,
// means of channels, a compressive memory.
bool LeavesData(const AttentionPlan& plan);

// The first row of each layer that comes out differently under `after` than under `before`; kNoRow
// where none does. [layer]; never rises from layer to layer, for later rows see the changed ones.
// Ratios that the last prompt row decides are not compared: they differ when what decides them
// does, so a change to any row counts from the first row that takes them in the next layer with
// such a rule. Where a layer takes means of channels over the prompt's rows, a change to any row
// changes all of them. `before` has such ratios filled in. Both are plans of one sequence, [layer]
// each.
std::vector<int64_t> FirstChangedRows(std::span<const AttentionPlan> before,
                                      std::span<const AttentionPlan> after);

// The first row of each layer that has to run where nothing is kept of the layers below
// `first_layer`: row 0 in all of those, if any of them changes. `rows`: of the sequence.
std::vector<int64_t> FirstRowsToRun(std::vector<int64_t> changed_rows, int64_t first_layer,
                                    int64_t rows);

// Functions shared by all terms of an intervention when they become plans. Internal to core.

// Throws Error (usage) that names `term` where the model lacks one of the layers.
void CheckLayers(const LayerSet& layers, const ModelConfig& config, const std::string& term);

// Throws Error (usage) that names `term` and the first layer with a sliding window, with the text
// "layer 3 sees the last 128 keys alone" and then `why` that is wrong.
void CheckNoWindow(std::span<const AttentionPlan> plans, const std::string& term,
                   const std::string& why);

// The chosen rows of a sequence whose prompt has so many tokens; INT64_MAX: to the end.
RowRange RowsOf(const RowChoice& choice, int64_t prompt_tokens);

}  // namespace midscope
