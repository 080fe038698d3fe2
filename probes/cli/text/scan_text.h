// SPDX-License-Identifier: MIT
// Formats the results of a scan, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "probes/cli/console/text_table.h"
#include "probes/sweep/scan_effects.h"
#include "probes/sweep/sweep_context.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {

// Returns tables of the `most` items with the largest effects on the mean over places, and on the
// middle place relative to the ends; for patches, also the recovered shares: a grid of layers and
// passages, or the largest shares. Then lists what the task cut from prompts.
Printout ScanTables(const SweepPlan& plan, const ScanEffects& effects, const PromptCuts& cuts,
                    int64_t most);

// Returns a scan's effects as JSON: {"over", "with", "task", "samples", "effects": [{"kind", "id",
// "place", "effect", "low", "high", "p", "layer", "head" if they exist}], "mean_effects": [as
// "effects", without "place"], "middle_effects", and "cut_samples" and "gold_cut_samples" [place]
// if prompts were cut}. If patches are scanned, "effects" and "mean_effects" also have "share",
// "share_low" and "share_high". Missing numbers are null.
std::string ScanEffectsJson(const SweepPlan& plan, const ScanEffects& effects,
                            const PromptCuts& cuts);

}  // namespace midscope::cli
