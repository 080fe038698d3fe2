// SPDX-License-Identifier: MIT
// Computes curves of the outcome over a parameter (ratio, factor, layer range, alpha, group,
// length, ...) from the settings of one or several sweeps (with other tasks, sizes or models), as
// in Fig. 3 of Ms-PoE (arXiv 2403.04797), Fig. 5 of the channel paper (2406.02536) and Fig. 3 of
// CREAM (2406.07138).
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/sweep/curve_points.h"

namespace midscope {

// Returns record outcome_curves. A curve consists of the points that are equal in everything
// (settings, task, model, seed) except the parameter; its label has the features that distinguish
// it from other curves. A setting without the parameter's term, such as `none` beside ratios, is a
// curve with the same value everywhere. Arrays of every measure: MEASURE_mean, MEASURE_gap with
// _low and _high, MEASURE_worst_place (NaN if all places are equal; in percent if all inputs print
// places in percent, else the rank) [curve, PARAMETER] (for sweeps at one place, gap and worst
// place are NaN; if all sweeps are at one place, these arrays are omitted), and MEASURE [curve,
// PARAMETER, place] if all inputs have the same number of places. Missing values of a curve are
// NaN. For running text (task `text`), perplexity with _low and _high [curve, PARAMETER] comes
// first; if all sweeps are of running text, there is no accuracy. For files of midscope probe, the
// measure is gold_attention (Fig. 1c of the channel paper). Attributes: parameter; model, task and
// samples of the first input. Throws Error (usage) if the parameter ("": the first of
// CurveParameters) is not one of CurveParameters.
Record OutcomeCurves(const std::vector<CurveInput>& inputs, const std::string& parameter);

}  // namespace midscope
