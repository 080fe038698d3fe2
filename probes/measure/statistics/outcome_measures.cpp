// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/outcome_measures.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/base/record_names.h"
#include "data/scorers/rouge.h"
#include "probes/measure/statistics/intervals.h"

namespace midscope {
namespace {

// A measure and the member of SampleOutcome with its values.
struct Described {
  const char* name;
  const char* unit;
  const char* description;
  bool higher_is_better;
};

template <typename T>
void AddMeasure(const std::vector<SampleOutcome>& outcomes, std::vector<T> SampleOutcome::*member,
                const Described& described, MeasureKind kind, size_t width,
                std::vector<OutcomeMeasure>& measures) {
  if (outcomes.empty() || (outcomes.front().*member).empty()) return;
  OutcomeMeasure measure{described.name,
                         described.unit,
                         described.description,
                         described.higher_is_better,
                         kind,
                         width,
                         {},
                         {}};
  measure.values.reserve(outcomes.size());
  size_t settings = 0;  // 0: all settings were run on all samples
  for (const SampleOutcome& outcome : outcomes) {
    settings = std::max(settings, outcome.failures.size());
  }
  for (const SampleOutcome& outcome : outcomes) {
    const std::vector<T>& cells = outcome.*member;
    measure.values.emplace_back(cells.begin(), cells.end());
    if (settings == 0) continue;
    std::vector<uint8_t>& ran = measure.ran.emplace_back();
    for (size_t i = 0; i < settings; ++i) ran.push_back(outcome.Ran(i) ? 1 : 0);
  }
  measures.push_back(std::move(measure));
}

// Whether the score of every sample that was run is 0 or 1.
bool IsShare(const std::vector<SampleOutcome>& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const SampleOutcome& outcome) {
    return std::all_of(outcome.generation_score.begin(), outcome.generation_score.end(),
                       [](double score) { return score == 0 || score == 1 || std::isnan(score); });
  });
}

// Converts the means of a cell's columns to one number.
double CellNumber(MeasureKind kind, std::span<const double> means) {
  if (kind != MeasureKind::kRouge) return means.front();
  return GeometricMean(RougeScores{means[0], means[1], means[2]});
}

std::vector<double> Numbers(const MeasureRows& rows, std::span<const double> column_means) {
  std::vector<double> numbers(rows.places);
  for (size_t place = 0; place < rows.places; ++place) {
    numbers[place] = CellNumber(rows.kind, column_means.subspan(place * rows.width, rows.width));
  }
  return numbers;
}

double Average(const MeasureRows& rows, std::span<const double> column_means) {
  return Mean(Numbers(rows, column_means));
}

double Gap(const MeasureRows& rows, std::span<const double> column_means) {
  const std::vector<double> numbers = Numbers(rows, column_means);
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return *high - *low;
}

// Joins each sample's rows of two settings, because they are resampled together.
std::vector<double> SideBySide(const MeasureRows& rows, const MeasureRows& others) {
  std::vector<double> both;
  both.reserve(2 * rows.values.size());
  const auto columns = static_cast<std::ptrdiff_t>(rows.columns());
  for (size_t sample = 0; sample < rows.samples(); ++sample) {
    for (const MeasureRows* one : {&rows, &others}) {
      const auto row = one->values.begin() + static_cast<std::ptrdiff_t>(sample) * columns;
      both.insert(both.end(), row, row + columns);
    }
  }
  return both;
}

template <typename Statistic>
Interval BootstrapDifference(const MeasureRows& rows, const MeasureRows& others, uint64_t seed,
                             const Statistic& statistic) {
  const size_t columns = rows.columns();
  return BootstrapRowsInterval(
      SideBySide(rows, others), 2 * columns, seed, [&](std::span<const double> means) {
        return statistic(rows, means.first(columns)) - statistic(rows, means.subspan(columns));
      });
}

// Returns the mean over places for each sample.
std::vector<double> SampleMeans(std::span<const double> values, size_t places) {
  std::vector<double> means;
  means.reserve(values.size() / places);
  for (size_t begin = 0; begin < values.size(); begin += places) {
    means.push_back(Mean(values.subspan(begin, places)));
  }
  return means;
}

std::vector<double> Difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.size());
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

bool AllAlike(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [&](double value) { return value == values.front(); });
}

Interval Within(const Interval& interval, double least, double most) {
  return {std::max(interval.low, least), std::min(interval.high, most)};
}

Interval ScoreInterval(std::span<const double> means) {
  if (AllAlike(means)) return ShareInterval(means.front(), static_cast<double>(means.size()));
  const Interval interval = MeanInterval(means);
  return std::isnan(interval.low) ? interval : Within(interval, 0, 1);
}

Interval ScoreDifferenceInterval(std::span<const double> differences) {
  if (AllAlike(differences)) {
    const auto samples = static_cast<double>(differences.size());
    const double difference = differences.front();
    return PairedShareInterval(std::max(difference, 0.0) * samples,
                               std::max(-difference, 0.0) * samples, samples);
  }
  const Interval interval = MeanInterval(differences);
  return std::isnan(interval.low) ? interval : Within(interval, -1, 1);
}

}  // namespace

std::vector<OutcomeMeasure> MeasuresOf(std::vector<SampleOutcome> outcomes) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const SampleOutcome& a, const SampleOutcome& b) { return a.sample < b.sample; });
  std::vector<OutcomeMeasure> measures;
  AddMeasure(outcomes, &SampleOutcome::answer_nll,
             {kAnswerNll, "nats",
              "mean negative log-likelihood of the answer, summed over its tokens", false},
             MeasureKind::kAmount, 1, measures);
  AddMeasure(outcomes, &SampleOutcome::correct,
             {"accuracy", "", "share of samples whose greedy continuation equals the answer", true},
             MeasureKind::kShare, 1, measures);
  AddMeasure(outcomes, &SampleOutcome::choice_correct,
             {"choice_accuracy", "",
              "share of samples whose right choice is likelier than the others", true},
             MeasureKind::kShare, 1, measures);
  AddMeasure(outcomes, &SampleOutcome::right_share,
             {"right_share", "",
              "mean share of the choices' likelihood that the right ones have (mc2)", true},
             MeasureKind::kScore, 1, measures);
  if (!outcomes.empty() && !outcomes.front().rouge.empty()) {
    AddMeasure(
        outcomes, &SampleOutcome::rouge,
        {"generation_score", "",
         "geometric mean of the mean ROUGE-1, ROUGE-2 and ROUGE-L of the generated text", true},
        MeasureKind::kRouge, kRougeKinds, measures);
  } else {
    AddMeasure(outcomes, &SampleOutcome::generation_score,
               {"generation_score", "",
                "mean score of the generated text, by the task's own scorer", true},
               IsShare(outcomes) ? MeasureKind::kShare : MeasureKind::kScore, 1, measures);
  }
  return measures;
}

MeasureRows RowsOf(const OutcomeMeasure& measure, size_t setting, size_t places, size_t first_place,
                   size_t count, const std::vector<size_t>& with) {
  MeasureRows rows{measure.kind, measure.width, count, {}};
  rows.values.reserve(measure.values.size() * rows.columns());
  for (size_t sample = 0; sample < measure.values.size(); ++sample) {
    const bool all_ran = measure.Ran(sample, setting) &&
                         std::all_of(with.begin(), with.end(),
                                     [&](size_t other) { return measure.Ran(sample, other); });
    if (!all_ran) continue;
    const auto begin =
        measure.values[sample].begin() +
        static_cast<std::ptrdiff_t>((setting * places + first_place) * measure.width);
    rows.values.insert(rows.values.end(), begin,
                       begin + static_cast<std::ptrdiff_t>(rows.columns()));
  }
  return rows;
}

std::vector<double> PlaceMeans(const MeasureRows& rows) {
  return Numbers(rows, ColumnMeans(rows.values, rows.columns()));
}

MeanWithInterval MeanOf(const MeasureRows& rows, uint64_t seed) {
  if (rows.values.empty()) return {kUndefined, {kUndefined, kUndefined}};
  const double mean = Average(rows, ColumnMeans(rows.values, rows.columns()));
  if (rows.samples() < 2 || std::isnan(mean)) return {mean, {kUndefined, kUndefined}};
  switch (rows.kind) {
    case MeasureKind::kAmount:
      return {mean, Within(MeanInterval(SampleMeans(rows.values, rows.places)), 0, HUGE_VAL)};
    case MeasureKind::kShare:
      return {mean, RowShareInterval(rows.values, rows.places)};
    case MeasureKind::kScore:
      return {mean, ScoreInterval(SampleMeans(rows.values, rows.places))};
    case MeasureKind::kRouge:
      return {mean, BootstrapRowsInterval(
                        rows.values, rows.columns(), seed,
                        [&](std::span<const double> means) { return Average(rows, means); })};
  }
  return {};
}

MeanWithInterval DifferenceOf(const MeasureRows& rows, const MeasureRows& others, uint64_t seed) {
  if (rows.values.empty()) return {kUndefined, {kUndefined, kUndefined}};
  const std::vector<double> differences = Difference(rows.values, others.values);
  if (rows.kind == MeasureKind::kRouge) {
    const double difference = Average(rows, ColumnMeans(rows.values, rows.columns())) -
                              Average(rows, ColumnMeans(others.values, rows.columns()));
    return {difference, BootstrapDifference(rows, others, seed, Average)};
  }
  const std::vector<double> of_samples = SampleMeans(differences, rows.places);
  const double mean = Mean(of_samples);
  if (rows.samples() < 2 || std::isnan(mean)) return {mean, {kUndefined, kUndefined}};
  switch (rows.kind) {
    case MeasureKind::kShare:
      return {mean, PairedRowShareInterval(differences, rows.places)};
    case MeasureKind::kScore:
      return {mean, ScoreDifferenceInterval(of_samples)};
    default:
      return {mean, MeanInterval(of_samples)};
  }
}

double DifferencePValue(const MeasureRows& rows, const MeasureRows& others, uint64_t seed) {
  if (rows.kind == MeasureKind::kRouge) {
    return SwapPValue(rows.values, others.values, rows.columns(), seed,
                      [&](std::span<const double> means) { return Average(rows, means); });
  }
  return SignFlipPValue(SampleMeans(Difference(rows.values, others.values), rows.places), seed);
}

std::string MeanMethod(MeasureKind kind, bool over_places) {
  switch (kind) {
    case MeasureKind::kAmount:
      return "Student's t, cut at 0";
    case MeasureKind::kShare:
      return over_places ? "Wilson's score on the effective number of samples" : "Wilson's score";
    case MeasureKind::kScore:
      return "Student's t, cut to 0..1; Wilson's score where all samples are alike";
    case MeasureKind::kRouge:
      return kBootstrapMethod;
  }
  return "";
}

std::string DifferenceMethod(MeasureKind kind, bool over_places) {
  switch (kind) {
    case MeasureKind::kAmount:
      return "Student's t of the samples' differences";
    case MeasureKind::kShare:
      return over_places ? "Tango's paired score on the effective number of samples"
                         : "Tango's paired score";
    case MeasureKind::kScore:
      return "Student's t of the samples' differences, cut to -1..1; Tango's paired score where "
             "all are alike";
    case MeasureKind::kRouge:
      return kBootstrapMethod;
  }
  return "";
}

ColumnEffect PlaceEffect(const MeasureRows& rows, uint64_t seed) {
  if (rows.width == 1) return TestColumnEffect(rows.values, rows.places, seed);
  return TestCellEffect(
      rows.values, rows.places, rows.width, seed,
      [&](std::span<const double> means) { return CellNumber(rows.kind, means); });
}

double GapOf(const MeasureRows& rows) {
  return rows.values.empty() ? kUndefined : Gap(rows, ColumnMeans(rows.values, rows.columns()));
}

Interval GapInterval(const MeasureRows& rows, uint64_t seed) {
  return BootstrapRowsInterval(rows.values, rows.columns(), seed,
                               [&](std::span<const double> means) { return Gap(rows, means); });
}

Interval GapDifferenceInterval(const MeasureRows& rows, const MeasureRows& others, uint64_t seed) {
  return BootstrapDifference(rows, others, seed, Gap);
}

double GapDifferencePValue(const MeasureRows& rows, const MeasureRows& others, uint64_t seed) {
  return SwapPValue(rows.values, others.values, rows.columns(), seed,
                    [&](std::span<const double> means) { return Gap(rows, means); });
}

}  // namespace midscope
