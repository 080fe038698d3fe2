// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the lines of the outcome plot: the sample on the screen, means over samples, published
// lines.
#pragma once

#include <vector>

#include "gui/plots/outcome_plot.h"

namespace midscope {

class Session;
class TriedSettings;

struct OutcomeChoice {
  Measure measure = Measure::kNll;
  bool sample = true;  // draw the sample on the screen
  bool means = true;
  Compare compare = Compare::kSplit;  // kA and kB hide the lines of the other one
};

// The lines of A and B of a model, or of all settings of a file; the line of a sample has the
// colour of its mean.
std::vector<OutcomePlot::Line> OutcomeLines(const Session& session, const OutcomeChoice& choice);
// B minus A of a file that the window wrote with both; empty for other files.
std::vector<OutcomePlot::Line> DifferenceLines(const std::vector<Record>& records);
// The lines of kept settings (C to F) that differ from A and B; empty while a file is shown.
std::vector<OutcomePlot::Line> KeptLines(const Session& session, const TriedSettings& tried,
                                         const OutcomeChoice& choice);

// Model, prompt and settings A and B as a caption for exported pictures.
QString OutcomeCaption(const Session& session);

// The lines of a record published_reference, made from a table (accuracy only) or a run
// (RunReference); their colours start at index `first_color`. A number that holds for all places is
// drawn from the first to the last place of the lines in `shown`.
std::vector<OutcomePlot::Line> ReferenceLines(const Record& reference, Measure measure,
                                              const std::vector<OutcomePlot::Line>& shown,
                                              size_t first_color);

}  // namespace midscope
