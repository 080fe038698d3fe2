// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/outcome_lines.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/outcome/answer_facts.h"
#include "gui/plots/plot_style.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/setting_marks.h"
#include "gui/session/two_models.h"
#include "probes/measure/statistics/outcome_statistics.h"

namespace midscope {
namespace {

using Line = OutcomePlot::Line;

QColor Paler(QColor color) {
  color.setAlpha(190);
  return color;
}

// The mean of A while that of B is missing: it is not comparable with the sample of B.
QColor Faded(QColor color) {
  color.setAlpha(80);
  return color;
}

// B minus A of the two records; nothing if their places differ.
std::optional<Line> SampleDifference(const Record& a, const Record& b) {
  const std::vector<OutcomeSeries> first = SeriesOf(a, Measure::kNll);
  std::vector<OutcomeSeries> second = SeriesOf(b, Measure::kNll);
  if (first.empty() || second.empty() || first[0].places != second[0].places) return std::nullopt;
  for (qsizetype i = 0; i < second[0].values.size(); ++i)
    second[0].values[i] -= first[0].values.value(i);
  return Line{second[0], QObject::tr("B − A, this sample"), Paler(SideColor(Side::kB)), false};
}

Line MeanDifference(const OutcomeSeries& means, bool complete) {
  QString label = QObject::tr("B − A, mean of %1, 95 %").arg(means.samples);
  if (!complete) label += QObject::tr(" (partial)");
  return {means, label, SideColor(Side::kB), true};
}

std::optional<Line> DifferenceOfSample(const Session& session) {
  const Record* a = session.record(Side::kA, kOutcomeRecord);
  const Record* b = session.record(Side::kB, kOutcomeRecord);
  if (!WhyNotComparable(session, Compared::kAnswers).isEmpty()) return std::nullopt;
  if (!a || !b || session.ShownAsOlder(Side::kA, *a) || session.ShownAsOlder(Side::kB, *b))
    return std::nullopt;
  return SampleDifference(*a, *b);
}

void AddDifference(const Session& session, const OutcomeChoice& choice, std::vector<Line>& lines) {
  if (!session.differs()) return;
  const auto sample = choice.sample ? DifferenceOfSample(session) : std::nullopt;
  if (sample) lines.push_back(*sample);
  const auto means = choice.means ? session.DifferenceOfMeans() : std::nullopt;
  if (means) lines.push_back(MeanDifference(means->series, means->complete));
  if (lines.empty()) return;
  lines.front().noise = NoiseOf(session.record(Side::kA, kOutcomeRecord));
  lines.front().around_zero = true;
}

bool Hides(const Session& session, const OutcomeChoice& choice, Side side) {
  return session.differs() && choice.compare == (side == Side::kA ? Compare::kB : Compare::kA);
}

void AddModelLines(const Session& session, const OutcomeChoice& choice, std::vector<Line>& lines) {
  for (const Side side : {Side::kA, Side::kB}) {
    if (side == Side::kB && !session.differs()) break;
    if (!session.marks()->Draws(side == Side::kA ? 0 : 1)) continue;
    const Record* outcome = session.record(side, kOutcomeRecord);
    const auto named = [&session, side](const QString& setting) {
      return session.marks()->WithLetter(SideName(session, side), setting);
    };
    if (choice.sample && outcome) {
      const RecordName made_by = NameOf(session, side, outcome);
      for (const OutcomeSeries& series : SeriesOf(*outcome, choice.measure)) {
        Line line{series, QObject::tr("%1, this sample").arg(named(made_by.setting)),
                  Paler(SideColor(side)), false};
        line.older = made_by.older;
        line.hidden = Hides(session, choice, side);
        if (side == Side::kA && !line.older && choice.measure == Measure::kNll)
          line.noise = NoiseOf(outcome);
        if (line.older) {
          line.name =
              QObject::tr("%1, older setting: %2").arg(line.name, WithoutFolders(made_by.setting));
        }
        lines.push_back(std::move(line));
      }
    }
    const auto means = session.MeansOf(side, choice.measure);
    if (choice.means && means) {
      QString label = QObject::tr("%1, mean of %2")
                          .arg(named(means->series.setting))
                          .arg(means->series.samples);
      if (means->beside) {
        label += QObject::tr(" (the same samples)");
      } else if (!means->complete) {
        label += QObject::tr(" (partial)");
      }
      const bool alone = session.differs() && choice.measure != Measure::kDifference &&
                         !session.MeansOf(side == Side::kA ? Side::kB : Side::kA, choice.measure);
      const QColor color = SideColor(side);
      lines.push_back({means->series, label, alone ? Faded(color) : color, true});
      lines.back().hidden = Hides(session, choice, side);
    }
  }
}

// Suffix for the name of a line that is not directly comparable with the others.
QString MarkOf(const OutcomeSeries& series) {
  return series.beyond_context ? QObject::tr(" (beyond the context)") : QString();
}

// Names and colours of a file's settings; A and B if the window wrote the file.
class SettingNames {
 public:
  explicit SettingNames(const Session& session) : marks_(*session.marks()) {
    if (session.sample_view()) return;
    for (const Side side : {Side::kA, Side::kB}) {
      if (side == Side::kB && !session.differs()) break;
      known_.append(QString::fromStdString(PrintIntervention(session.setting(side))));
    }
    sides_ = known_.size();
  }
  QColor ColorOf(const QString& setting) {
    if (!known_.contains(setting)) known_.append(setting);
    return OutcomePlot::SettingColor(static_cast<size_t>(known_.indexOf(setting)));
  }
  QString NameOf(const QString& setting) const {
    const qsizetype index = known_.indexOf(setting);
    if (index < 0 || index >= sides_) return marks_.Shown(setting);
    return index == 0 ? QObject::tr("A") : QObject::tr("B");
  }

 private:
  const SettingMarks& marks_;
  QStringList known_;
  qsizetype sides_ = 0;
};

void AddFileLines(const Session& session, const OutcomeChoice& choice, std::vector<Line>& lines) {
  SettingNames names(session);
  QStringList with_mean;
  for (const OutcomeSeries& series : session.FileSeries(choice.measure)) {
    const QColor color = names.ColorOf(series.setting);
    // The outcome of one sample is drawn below.
    const bool one = series.samples == 0 && session.record(Side::kA, kOutcomeRecord);
    if (one || !choice.means) continue;
    with_mean.append(series.setting);
    lines.push_back({series, names.NameOf(series.setting) + MarkOf(series), color, true});
  }
  if (!choice.sample) return;
  constexpr int kMostNamed = 2;
  int named = 0;
  for (const Side side : {Side::kA, Side::kB}) {
    const Record* outcome = session.record(side, kOutcomeRecord);
    if (!outcome) continue;
    for (const OutcomeSeries& series : SeriesOf(*outcome, choice.measure)) {
      const bool of_window = !session.sample_view();
      const QString name = !of_window         ? session.marks()->Shown(series.setting)
                           : side == Side::kA ? QObject::tr("A")
                                              : QObject::tr("B");
      const QColor color = of_window ? SideColor(side) : names.ColorOf(series.setting);
      Line line{series, QObject::tr("%1, this sample").arg(name), Paler(color), false};
      // In a file of many settings, the first two names suffice for the lines of one sample.
      line.in_legend = of_window || !with_mean.contains(series.setting) || named++ < kMostNamed;
      line.hidden = of_window && Hides(session, choice, side);
      lines.push_back(std::move(line));
    }
  }
}

}  // namespace

std::vector<Line> OutcomeLines(const Session& session, const OutcomeChoice& choice) {
  std::vector<Line> lines;
  if (choice.measure == Measure::kDifference && !session.shows_file()) {
    AddDifference(session, choice, lines);
  } else if (session.file_records().empty()) {
    AddModelLines(session, choice, lines);
  } else {
    AddFileLines(session, choice, lines);
    // The file of a window has its two samples.
    if (choice.measure == Measure::kDifference && lines.empty())
      AddDifference(session, choice, lines);
  }
  return lines;
}

std::vector<Line> DifferenceLines(const std::vector<Record>& records) {
  std::vector<Line> lines;
  const Record* a = FindRecord(records, kOutcomeRecord);
  const Record* b = FindRecord(records, std::string(kOutcomeRecord) + "_b");
  const auto sample = a && b ? SampleDifference(*a, *b) : std::nullopt;
  if (!sample) return lines;
  lines.push_back(*sample);
  lines.front().noise = NoiseOf(a);
  lines.front().around_zero = true;
  const Record* means = FindRecord(records, std::string(kOutcomeMeans) + "_b");
  if (!means || TextAttribute(*means, "against") != TextAttribute(*a, "intervention")) return lines;
  for (const OutcomeSeries& series : SeriesOf(*means, Measure::kDifference))
    lines.push_back(MeanDifference(series, IntegerAttribute(*means, "complete", 1) != 0));
  return lines;
}

std::vector<Line> KeptLines(const Session& session, const TriedSettings& tried,
                            const OutcomeChoice& choice) {
  std::vector<Line> lines;
  if (session.shows_file() || choice.measure == Measure::kDifference) return lines;
  for (const TriedSetting* kept : tried.Kept()) {
    const auto is_shown = [&](Side side) {
      return PrintIntervention(session.setting(side)) == kept->text;
    };
    // They are settings of the first model.
    if (is_shown(Side::kA) || (!session.second() && is_shown(Side::kB))) continue;
    if (!session.marks()->Draws(2 + kept->kept)) continue;
    const QString letter = session.marks()->WithLetter(TriedSettings::Letter(kept->kept),
                                                       QString::fromStdString(kept->text));
    const QColor color = OutcomePlot::SettingColor(2 + static_cast<size_t>(kept->kept));
    if (choice.sample && kept->outcome) {
      for (const OutcomeSeries& series : SeriesOf(*kept->outcome, choice.measure))
        lines.push_back({series, QObject::tr("%1, this sample").arg(letter), Paler(color), false});
    }
    const auto means = session.MeansOfSetting(kept->text, choice.measure);
    if (!choice.means || !means) continue;
    QString label = QObject::tr("%1, mean of %2").arg(letter).arg(means->series.samples);
    if (!means->complete) label += QObject::tr(" (partial)");
    lines.push_back({means->series, label, color, true});
  }
  return lines;
}

QString OutcomeCaption(const Session& session) {
  std::vector<RecordName> names;
  for (const Side side : {Side::kA, Side::kB}) {
    const Record* outcome = session.record(side, kOutcomeRecord);
    if (outcome) names.push_back(NameOf(session, side, outcome));
  }
  return CaptionWith(session, names);
}

namespace {

// The first and the last place of the lines; empty if there are none.
QVector<double> EndsOf(const std::vector<Line>& lines) {
  QVector<double> ends;
  for (const Line& line : lines) {
    for (const double place : line.series.places) {
      if (ends.isEmpty()) ends = {place, place};
      ends = {std::min(ends.front(), place), std::max(ends.back(), place)};
    }
  }
  return ends;
}

void AddEverywhere(double value, const QVector<double>& places, Line& line) {
  for (const double place : places) {
    line.series.places.append(place);
    line.series.values.append(value);
    line.point_names.append(QObject::tr("every place"));
    line.notes.append(QString());
  }
}

}  // namespace

std::vector<Line> ReferenceLines(const Record& reference, Measure measure,
                                 const std::vector<Line>& shown, size_t first_color) {
  std::vector<Line> lines;
  const std::string array = measure == Measure::kNll ? kAnswerNll : "accuracy";
  if (measure == Measure::kDifference || !reference.FindArray(array)) return lines;
  const QStringList labels = AxisLabels(reference, "line");
  const QStringList notes = Texts(reference, "note");
  const QVector<double> pieces = LastAxisRow(reference, "pieces", {});
  const QVector<double> samples = LastAxisRow(reference, "samples", {});
  const QString table = TextAttribute(reference, "table");
  const bool of_runs = !TextAttribute(reference, "runs").isEmpty();
  const auto points = static_cast<qsizetype>(AxisSize(reference, "point"));
  for (qsizetype i = 0; i < labels.size(); ++i) {
    Line line;
    line.reference = true;
    line.same_share = !of_runs;
    line.color = OutcomePlot::SettingColor(first_color + static_cast<size_t>(i));
    const QVector<double> places = LastAxisRow(reference, "place", {i});
    const QVector<double> published = LastAxisRow(reference, "published_place", {i});
    const QVector<double> values = LastAxisRow(reference, array, {i});
    const bool whole = std::min({places.size(), published.size(), values.size()}) == points;
    for (qsizetype point = 0; whole && point < points; ++point) {
      if (std::isnan(values[point])) continue;
      if (std::isnan(places[point])) {
        AddEverywhere(values[point], EndsOf(shown), line);
        continue;
      }
      line.series.places.append(places[point]);
      line.series.values.append(values[point]);
      line.point_names.append(
          QObject::tr("place %1 of %2").arg(published[point]).arg(pieces.value(i)));
      line.notes.append(notes.value(i * points + point));
    }
    if (line.series.places.isEmpty()) continue;
    line.series.samples = static_cast<int64_t>(samples.value(i));
    line.series.setting = labels[i];
    const bool marked = std::any_of(line.notes.begin(), line.notes.end(),
                                    [](const QString& note) { return !note.isEmpty(); });
    line.name = of_runs ? labels[i]
                        : QStringLiteral("%1: %2%3")
                              .arg(table, labels[i], marked ? QStringLiteral("*") : QString());
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace midscope
