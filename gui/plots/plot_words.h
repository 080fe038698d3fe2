// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of a plot in words, for screen readers.
#pragma once

#include <QString>

namespace midscope {

class Plot;

// Returns title, axes, and per line or map its name, number of values, range and largest value;
// then the values at the current point (Plot::CurrentPoint).
QString PlotInWords(const Plot& plot);

// Lets screen readers ask for these words as the description of every plot. They are made on
// request.
void OfferPlotsInWords();
// Notifies screen readers, if there are any, that the words have changed.
void NoteNewWords(Plot* plot);

}  // namespace midscope
