// SPDX-License-Identifier: MIT
// The outcome over a parameter: ratio, factor, layer range, alpha, group, length ... It is computed
// from the settings of one sweep, or of several (of other tasks, sizes, models), as in Fig. 3 of
// Ms-PoE (arXiv 2403.04797), Fig. 5 of the channel paper (2406.02536) and Fig. 3 of CREAM
// (2406.07138).
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/sweep/curve_points.h"

namespace midscope {

// Record outcome_curves. A curve consists of the points that are equal in all but the parameter:
// settings, task, model, seed; its label is what they have in common and other curves have not. A
// setting without the parameter's term is a curve with the same value everywhere, as `none` beside
// ratios. Arrays of every measure: MEASURE_mean, MEASURE_gap with _low and _high,
// MEASURE_worst_place (NaN if all are alike) [curve, PARAMETER] (a sweep at one place has neither
// gap nor worst place: NaN, and if all are such the arrays are left out), and MEASURE [curve,
// PARAMETER, place] where all inputs have as many places. NaN if a curve lacks a value. For running
// text (task `text`) perplexity with _low and _high [curve, PARAMETER] comes first, and such sweeps
// alone have no accuracy. Attributes: parameter; model, task and samples of the first input. Throws
// Error (usage) for a parameter ("": the first) that is not one of CurveParameters.
Record OutcomeCurves(const std::vector<CurveInput>& inputs, const std::string& parameter);

}  // namespace midscope
