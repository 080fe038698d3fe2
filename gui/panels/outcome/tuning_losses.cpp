// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/tuning_losses.h"

#include <QFileInfo>
#include <QObject>
#include <QRegularExpression>
#include <QStringList>
#include <cmath>
#include <limits>
#include <set>
#include <variant>

#include "core/base/error.h"
#include "data/published/tuning_recipe.h"
#include "gui/base/record_access.h"
#include "gui/plots/lines_plot.h"
#include "probes/client/result_files.h"

namespace midscope {

bool TuningLosses::AddLine(const QString& line) {
  static const QRegularExpression step(
      QStringLiteral("^step (\\d+)/\\d+: loss ([^,]+), rate ([^,]+),"));
  static const QRegularExpression held(QStringLiteral("^held-out loss (\\S+)$"));
  if (const auto match = step.match(line); match.hasMatch()) {
    steps << match.captured(1).toDouble();
    loss << match.captured(2).toDouble();
    rate << match.captured(3).toDouble();
    return true;
  }
  const auto match = held.match(line);
  if (match.hasMatch()) held_out << match.captured(1).toDouble();
  return match.hasMatch();
}

Record ReadTuningRecord(const ResultFiles& files, const QString& path) {
  const RunFile read = files.Read(path.toStdString());
  if (const Record* record = FindRecord(read.records, kTuningRecord)) return *record;
  throw Failure("'" + path.toStdString() + "'", "it has no losses of midscope tune",
                "Give a file tuning.h5, or its folder");
}

TuningLosses LossesOf(const Record& record, const QString& name) {
  TuningLosses losses{name,
                      AxisValues(record, "step"),
                      LastAxisRow(record, "loss", {}),
                      LastAxisRow(record, "rate", {}),
                      {}};
  for (QVector<double>* values : {&losses.loss, &losses.rate})
    values->resize(losses.steps.size(), std::nan(""));
  for (const char* when : {"held_out_loss_before", "held_out_loss_after"}) {
    const double loss = NumberAttribute(record, when, std::nan(""));
    if (!std::isnan(loss)) losses.held_out << loss;
  }
  return losses;
}

QString TuningName(const QString& path) {
  const QFileInfo file(path);
  return file.fileName() == QLatin1String(kTuningFile) ? QFileInfo(file.absolutePath()).fileName()
                                                       : file.completeBaseName();
}

void ShowLosses(const std::vector<TuningLosses>& runs, bool rate, LinesPlot& plot) {
  std::set<double> steps;
  for (const TuningLosses& run : runs) steps.insert(run.steps.begin(), run.steps.end());
  const std::string name = rate ? "rate" : "loss";
  Record record;
  record.name = kTuningRecord;
  record.axes = {{"run", static_cast<int64_t>(runs.size()), "", {}, {}},
                 {"step", static_cast<int64_t>(steps.size()), "", {}, {}}};
  record.axes[1].values.assign(steps.begin(), steps.end());
  std::vector<double> values;
  LinesPlot::View view;
  view.array = name;
  for (const TuningLosses& run : runs) {
    QStringList held;
    for (const double loss : run.held_out) held << QString::number(loss, 'f', 4);
    const QString text = QObject::tr("held out %1").arg(held.join(QStringLiteral(" → ")));
    const bool named = !rate && runs.size() > 1 && !held.isEmpty();
    record.axes[0].labels.push_back(
        (named ? QStringLiteral("%1, %2").arg(run.name, text) : run.name).toStdString());
    for (const double step : steps) {
      const qsizetype at = run.steps.indexOf(step);
      values.push_back(at < 0 ? std::nan("") : rate ? run.rate[at] : run.loss[at]);
    }
    // Horizontal lines of several runs would look alike.
    if (rate || runs.size() > 1) continue;
    for (qsizetype i = 0; i < held.size(); ++i) {
      view.marks.push_back(
          {run.held_out[i],
           (i == 0 ? QObject::tr("held out, before: %1") : QObject::tr("after: %1")).arg(held[i])});
    }
  }
  record.arrays = {{name,
                    {"run", "step"},
                    std::move(values),
                    rate ? "" : "nats",
                    rate ? "learning rate" : "loss of the step's samples"}};
  plot.Show(steps.empty() ? nullptr : &record, view);
}

}  // namespace midscope
