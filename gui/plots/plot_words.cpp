// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot_words.h"

#include <QAccessibleWidget>
#include <QStringList>
#include <cmath>
#include <optional>

#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"

namespace midscope {
namespace {

constexpr int kMostDescribedLines = 8;     // further lines are counted only
constexpr qsizetype kLongestTable = 2000;  // characters

QString NumberWords(double value) { return QString::number(value, 'g', 3); }

struct Extent {
  qsizetype count = 0;
  double least = 0;
  double most = 0;
  double most_at = 0;  // along the key axis

  void Add(double value, double at) {
    if (!std::isfinite(value)) return;
    if (count == 0 || value < least) least = value;
    if (count == 0 || value > most) {
      most = value;
      most_at = at;
    }
    ++count;
  }
};

Extent ExtentOf(const QCPAbstractPlottable* plottable) {
  Extent extent;
  if (const auto* graph = qobject_cast<const QCPGraph*>(plottable)) {
    for (const QCPGraphData& point : *graph->data()) extent.Add(point.value, point.key);
  } else if (const auto* bars = qobject_cast<const QCPBars*>(plottable)) {
    for (const QCPBarsData& bar : *bars->data()) extent.Add(bar.value, bar.key);
  } else if (const auto* map = qobject_cast<const QCPColorMap*>(plottable)) {
    const QCPColorMapData& cells = *const_cast<QCPColorMap*>(map)->data();
    for (int key = 0; key < cells.keySize(); ++key) {
      for (int value = 0; value < cells.valueSize(); ++value)
        extent.Add(const_cast<QCPColorMapData&>(cells).cell(key, value), key);
    }
  }
  return extent;
}

QString LineWords(const QCPAbstractPlottable& plottable) {
  const Extent extent = ExtentOf(&plottable);
  if (extent.count == 0) return {};
  QString text =
      QObject::tr("%1 values from %2 to %3, the largest at %4")
          .arg(extent.count)
          .arg(NumberWords(extent.least), NumberWords(extent.most), NumberWords(extent.most_at));
  if (!plottable.name().isEmpty()) text = QStringLiteral("%1: %2").arg(plottable.name(), text);
  return text;
}

class AccessiblePlot : public QAccessibleWidget {
 public:
  explicit AccessiblePlot(Plot* plot) : QAccessibleWidget(plot, QAccessible::Chart), plot_(plot) {}
  QString text(QAccessible::Text kind) const override {
    return kind == QAccessible::Description ? PlotInWords(*plot_) : QAccessibleWidget::text(kind);
  }

 private:
  const Plot* plot_;
};

QAccessibleInterface* MakeAccessible(const QString& /*type*/, QObject* object) {
  auto* plot = qobject_cast<Plot*>(object);
  return plot ? new AccessiblePlot(plot) : nullptr;
}

QString AxisWords(const QCPAxis& axis) {
  return QStringLiteral("%1 %2 – %3")
      .arg(FullLabel(axis), NumberWords(axis.range().lower), NumberWords(axis.range().upper));
}

}  // namespace

QString PlotInWords(const Plot& plot) {
  QStringList parts = {plot.title()};
  if (plot.xAxis && plot.yAxis && plot.xAxis->visible())
    parts << AxisWords(*plot.xAxis) << AxisWords(*plot.yAxis);
  int more = 0;
  for (int i = 0; i < plot.plottableCount(); ++i) {
    const QCPAbstractPlottable* plottable = const_cast<Plot&>(plot).plottable(i);
    const QString words = plottable->visible() ? LineWords(*plottable) : QString();
    if (words.isEmpty()) continue;
    if (i - more < kMostDescribedLines) {
      parts << words;
    } else {
      ++more;
    }
  }
  if (more > 0) parts << QObject::tr("%1 further lines").arg(more);
  if (const QString table = plot.Table(); plot.plottableCount() == 0 && !table.isEmpty())
    parts << table.left(kLongestTable);
  if (const std::optional<QPointF> point = plot.CurrentPoint()) {
    const QString now = plot.TooltipAt(*point);
    if (!now.isEmpty()) parts << QObject::tr("current point: %1").arg(now);
  }
  return parts.join(QStringLiteral(".\n"));
}

void OfferPlotsInWords() {
  static const bool once = [] {
    QAccessible::installFactory(&MakeAccessible);
    return true;
  }();
  Q_UNUSED(once);
}

void NoteNewWords(Plot* plot) {
  if (!QAccessible::isActive()) return;
  QAccessibleEvent event(plot, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
}

}  // namespace midscope
