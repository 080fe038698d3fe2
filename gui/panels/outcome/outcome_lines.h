// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of the outcome plot: the sample on the screen, means over samples, published lines.
#pragma once

#include <vector>

#include "gui/plots/outcome_plot.h"

namespace midscope {

class Session;
class TriedSettings;

struct OutcomeChoice {
  Measure measure = Measure::kNll;
  bool sample = true;  // of the sample on the screen
  bool means = true;
};

// Lines of A and B of a model, or of all settings of a file; a sample's line has its mean's colour.
std::vector<OutcomePlot::Line> OutcomeLines(const Session& session, const OutcomeChoice& choice);
// Lines of the settings that are kept as C to F and are neither A nor B; none while a file is
// shown.
std::vector<OutcomePlot::Line> KeptLines(const Session& session, const TriedSettings& tried,
                                         const OutcomeChoice& choice);

// Model, prompt and the settings of A and B, for exported pictures.
QString OutcomeCaption(const Session& session);

// Lines of a record published_reference, of a table (accuracy alone) or of a run (RunReference);
// colours from `first_color` on. A number that holds for all places is drawn from the first to the
// last of `shown`'s.
std::vector<OutcomePlot::Line> ReferenceLines(const Record& reference, Measure measure,
                                              const std::vector<OutcomePlot::Line>& shown,
                                              size_t first_color);

}  // namespace midscope
