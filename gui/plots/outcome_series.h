// SPDX-License-Identifier: GPL-3.0-or-later
// The outcome by gold place as lines to draw, out of records of any of the three kinds that hold
// it: one sample's outcome, means over samples, and a sweep's samples.
#pragma once

#include <QString>
#include <QVector>
#include <vector>

#include "core/base/record.h"

namespace midscope {

enum class Measure { kNll, kAccuracy };

struct OutcomeSeries {
  QString setting;         // its text form
  QVector<double> places;  // 1-based
  QVector<double> values;  // one a place; NaN: none
  QVector<double> low;     // ends of the interval; empty for none
  QVector<double> high;
  int64_t samples = 0;          // 0: one sample
  bool beyond_context = false;  // of prompts that the model's context does not hold
};

// One series a setting; empty where the record has no such outcome. Means over the axis `sample`
// are taken here for a sweep's samples (those without a value left out).
std::vector<OutcomeSeries> SeriesOf(const Record& record, Measure measure);
// Of all records: means where any holds them, else those of a sweep's samples, else one sample's;
// each setting once, of the first record that has it.
std::vector<OutcomeSeries> BestSeriesOf(const std::vector<Record>& records, Measure measure);

}  // namespace midscope
