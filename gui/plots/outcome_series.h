// SPDX-License-Identifier: GPL-3.0-or-later
// The outcome by gold place as series, from any of three kinds of records: one sample's outcome,
// means over samples, a sweep's samples.
#pragma once

#include <QString>
#include <QVector>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// kDifference: nats of B minus those of A, sample by sample.
enum class Measure { kNll, kAccuracy, kDifference };

struct OutcomeSeries {
  QString setting;         // its text form
  QVector<double> places;  // 1-based
  QVector<double> values;  // one per place; NaN: none
  QVector<double> low;     // ends of the interval; empty for none
  QVector<double> high;
  int64_t samples = 0;          // 0: one sample
  bool beyond_context = false;  // some prompts exceed the model's context
  bool operator==(const OutcomeSeries&) const = default;
};

// The series of the setting to which the differences of this one are, from that of the other:
// minus its values. `setting`: of the result.
OutcomeSeries Negated(const OutcomeSeries& series, const QString& setting);

// One series per setting; empty where the record has no such outcome. A sweep's samples are
// averaged over the axis `sample` (those without a value left out).
std::vector<OutcomeSeries> SeriesOf(const Record& record, Measure measure);
// Series of all records: means where any holds them, else means of a sweep's samples, else one
// sample's; each setting once, of the first record that has it.
std::vector<OutcomeSeries> BestSeriesOf(const std::vector<Record>& records, Measure measure);

}  // namespace midscope
