// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/outcome_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"

namespace midscope {
namespace {

std::string MeanName(Measure measure) {
  if (measure == Measure::kDifference) return "answer_nll_difference";
  return measure == Measure::kNll ? kAnswerNll : "accuracy";
}

std::string SampleName(const Record& record, Measure measure) {
  if (measure == Measure::kDifference) return "answer_nll_difference";
  if (measure == Measure::kNll) return kAnswerNll;
  return record.FindArray("accuracy") ? "accuracy" : "correct";
}

// Whether a setting was not run on a sample; `correct` is then 0 without meaning. `failures`:
// [sample, setting] as Texts() returns it; if empty, all were run.
bool WasNotRun(const QStringList& failures, qsizetype settings, int64_t sample, qsizetype setting) {
  const qsizetype at = static_cast<qsizetype>(sample) * settings + setting;
  return at < failures.size() && !failures[at].isEmpty();
}

std::vector<OutcomeSeries> OneASetting(const Record& record, const std::string& array) {
  std::vector<OutcomeSeries> all;
  const QStringList settings = AxisLabels(record, "setting");
  const QStringList failures = Texts(record, "setting_failure");
  for (qsizetype i = 0; i < settings.size(); ++i) {
    OutcomeSeries series;
    series.setting = settings[i];
    series.places = AxisValues(record, "place");
    series.values = LastAxisRow(record, array, {i});
    if (WasNotRun(failures, settings.size(), 0, i)) {
      series.values.fill(std::numeric_limits<double>::quiet_NaN());
    }
    series.low = LastAxisRow(record, array + "_low", {i});
    series.high = LastAxisRow(record, array + "_high", {i});
    const double samples = ValueAt(record, "samples", {i});
    series.samples = std::isnan(samples) ? 0 : static_cast<int64_t>(samples);
    series.beyond_context = ValueAt(record, "beyond_context", {i}) > 0 ||
                            IntegerAttribute(record, "beyond_context", 0) != 0;
    all.push_back(series);
  }
  return all;
}

std::vector<OutcomeSeries> MeansOverSamples(const Record& record, const std::string& array) {
  std::vector<OutcomeSeries> all;
  const QStringList settings = AxisLabels(record, "setting");
  const QVector<double> places = AxisValues(record, "place");
  const int64_t samples = AxisSize(record, "sample");
  const QStringList failures = Texts(record, "setting_failure");
  for (qsizetype i = 0; i < settings.size(); ++i) {
    OutcomeSeries series{settings[i], places, {}, {}, {}, 0, false};
    QVector<double> sums(places.size(), 0.0);
    QVector<int64_t> counts(places.size(), 0);
    for (int64_t sample = 0; sample < samples; ++sample) {
      if (WasNotRun(failures, settings.size(), sample, i)) continue;
      ++series.samples;
      series.beyond_context =
          series.beyond_context || ValueAt(record, "beyond_context", {sample, i}) > 0;
      const QVector<double> row = LastAxisRow(record, array, {sample, i});
      for (qsizetype place = 0; place < row.size(); ++place) {
        if (std::isnan(row[place])) continue;
        sums[place] += row[place];
        ++counts[place];
      }
    }
    for (qsizetype place = 0; place < places.size(); ++place) {
      series.values.append(counts[place] > 0 ? sums[place] / static_cast<double>(counts[place])
                                             : std::numeric_limits<double>::quiet_NaN());
    }
    all.push_back(series);
  }
  return all;
}

// Adds the series of settings that are not in `all` yet.
void AddOthers(std::vector<OutcomeSeries> more, std::vector<OutcomeSeries>& all) {
  for (OutcomeSeries& series : more) {
    const bool known = std::any_of(all.begin(), all.end(), [&series](const OutcomeSeries& one) {
      return one.setting == series.setting;
    });
    if (!known) all.push_back(std::move(series));
  }
}

}  // namespace

OutcomeSeries Negated(const OutcomeSeries& series, const QString& setting) {
  OutcomeSeries negated = series;
  negated.setting = setting;
  for (double& value : negated.values) value = -value;
  negated.low = series.high;
  negated.high = series.low;
  for (double& value : negated.low) value = -value;
  for (double& value : negated.high) value = -value;
  return negated;
}

std::vector<OutcomeSeries> SeriesOf(const Record& record, Measure measure) {
  const std::string mean = MeanName(measure);
  if (HasArray(record, mean, {"setting", "place"})) return OneASetting(record, mean);
  const std::string sample = SampleName(record, measure);
  if (HasArray(record, sample, {"setting", "place"})) return OneASetting(record, sample);
  if (HasArray(record, sample, {"sample", "setting", "place"})) {
    return MeansOverSamples(record, sample);
  }
  return {};
}

std::vector<OutcomeSeries> BestSeriesOf(const std::vector<Record>& records, Measure measure) {
  std::vector<OutcomeSeries> best;
  int best_worth = 0;
  for (const Record& record : records) {
    std::vector<OutcomeSeries> series = SeriesOf(record, measure);
    if (series.empty()) continue;
    const bool means = record.FindArray("samples") != nullptr;
    const int worth = means ? 3 : record.FindAxis("sample") ? 2 : 1;
    if (worth > best_worth) {
      best = std::move(series);
      best_worth = worth;
    } else if (worth == best_worth) {
      AddOthers(std::move(series), best);
    }
  }
  return best;
}

}  // namespace midscope
