// SPDX-License-Identifier: GPL-3.0-or-later
// Converts records to series of the outcome by gold place. Three kinds of records are accepted: the
// outcome of one sample, means over samples, and the samples of a sweep.
#pragma once

#include <QString>
#include <QVector>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// kDifference: loss in nats of B minus that of A, sample by sample.
enum class Measure { kNll, kAccuracy, kDifference };

struct OutcomeSeries {
  QString setting;         // its text form
  QVector<double> places;  // counted from 1
  QVector<double> values;  // one per place; NaN: missing
  QVector<double> low;     // ends of the interval; empty: no interval
  QVector<double> high;
  int64_t samples = 0;          // number of samples; 0: one sample, not a mean
  bool beyond_context = false;  // some prompts are longer than the model's context
  bool operator==(const OutcomeSeries&) const = default;
};

// The series of a difference with the two settings exchanged: its values are negated. `setting`:
// the setting of the result.
OutcomeSeries Negated(const OutcomeSeries& series, const QString& setting);

// One series per setting; empty if the record has no such outcome. The samples of a sweep are
// averaged over the axis `sample`, ignoring those without a value.
std::vector<OutcomeSeries> SeriesOf(const Record& record, Measure measure);
// The best series of all records: means if any record has them, else means of a sweep's samples,
// else one sample's outcome. Each setting occurs once, from the first record that has it.
std::vector<OutcomeSeries> BestSeriesOf(const std::vector<Record>& records, Measure measure);

}  // namespace midscope
