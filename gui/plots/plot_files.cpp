// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot_files.h"

#include <QAccessibleWidget>
#include <QDir>
#include <QRegularExpression>
#include <QSaveFile>
#include <QStringList>
#include <cmath>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_picture.h"

namespace midscope {

namespace {

constexpr const char* kIndexNames = "midscope_index_names";
constexpr const char* kCellTexts = "midscope_cell_texts";
constexpr const char* kFullLabel = "midscope_full_label";
constexpr const char* kPictureLabel = "midscope_picture_label";
constexpr const char* kCsvName = "midscope_csv_name";
constexpr const char* kShownOffset = "midscope_shown_offset";
constexpr char kInTable[] = "midscope_in_table";

QString Number(double value) {
  return std::isfinite(value) ? QString::number(value, 'g', 9) : QString();
}

// A coordinate; if the axis has index names, the name.
QString Coordinate(const QCPAxis& axis, double value) {
  const QStringList names = axis.property(kIndexNames).toStringList();
  return names.isEmpty() ? Number(value) : CsvField(names.value(qRound(value)));
}

// The first axis label on the given side, because panels inside a grid have no label.
QString AxisName(const QCustomPlot& plot, QCPAxis::AxisType side, const char* otherwise) {
  for (const QCPAxisRect* rect : plot.axisRects()) {
    const QCPAxis& axis = *rect->axis(side);
    const QString name = axis.property(kCsvName).toString();
    const QString label = name.isEmpty() ? FullLabel(axis) : name;
    if (!label.isEmpty()) return CsvField(label);
  }
  return QString::fromLatin1(otherwise);
}

QString MapHeader(QCPColorMap& map) {
  const QCustomPlot& plot = *map.parentPlot();
  const bool panels = !map.keyAxis()->axisRect()->objectName().isEmpty();
  return (panels ? QStringLiteral("panel,") : QString()) + AxisName(plot, QCPAxis::atLeft, "y") +
         QLatin1Char(',') + AxisName(plot, QCPAxis::atBottom, "x") + QLatin1Char(',') +
         (map.name().isEmpty() ? QStringLiteral("value") : CsvField(map.name())) +
         (map.property(kCellTexts).isValid() ? QStringLiteral(",text\n") : QStringLiteral("\n"));
}

void AddMap(QCPColorMap& map, QString& csv) {
  const QString panel = map.keyAxis()->axisRect()->objectName();
  const QString begin = panel.isEmpty() ? QString() : CsvField(panel) + QLatin1Char(',');
  QCPColorMapData& data = *map.data();
  const QStringList texts = map.property(kCellTexts).toStringList();
  for (int row = 0; row < data.valueSize(); ++row) {
    for (int column = 0; column < data.keySize(); ++column) {
      csv += begin + Coordinate(*map.valueAxis(), row) + QLatin1Char(',') +
             Coordinate(*map.keyAxis(), column) + QLatin1Char(',') + Number(data.cell(column, row));
      const int cell = row * data.keySize() + column;
      if (cell < texts.size()) csv += QLatin1Char(',') + CsvField(texts[cell]);
      csv += QLatin1Char('\n');
    }
  }
}

// The error bars of a graph; nullptr if it has none.
const QCPErrorBars* BarsOf(const QCPAbstractPlottable* graph, QCustomPlot& plot) {
  for (int i = 0; i < plot.plottableCount(); ++i) {
    const auto* bars = qobject_cast<const QCPErrorBars*>(plot.plottable(i));
    if (bars && bars->dataPlottable() == graph) return bars;
  }
  return nullptr;
}

// The name of a line or of bars; if the plot has several panels, preceded by the panel's name.
QString SeriesName(const QCPAbstractPlottable& series) {
  const QString panel = series.keyAxis()->axisRect()->objectName();
  return CsvField(panel.isEmpty() ? series.name() : panel + QStringLiteral(": ") + series.name());
}

void AddSeries(QCPAbstractPlottable& series, bool bounds, QString& csv) {
  const QCPErrorBars* bars = BarsOf(&series, *series.parentPlot());
  const QCPPlottableInterface1D* points = series.interface1D();
  for (int i = 0; points && i < points->dataCount(); ++i) {
    const double value = points->dataMainValue(i);
    csv += SeriesName(series) + QLatin1Char(',') +
           Coordinate(*series.keyAxis(),
                      points->dataMainKey(i) - series.property(kShownOffset).toDouble()) +
           QLatin1Char(',') + Number(value);
    if (bounds && bars && i < bars->data()->size()) {
      const QCPErrorBarsData& error = bars->data()->at(i);
      csv += QLatin1Char(',') + Number(value - error.errorMinus) + QLatin1Char(',') +
             Number(value + error.errorPlus);
    } else if (bounds) {
      csv += QStringLiteral(",,");
    }
    csv += QLatin1Char('\n');
  }
}

}  // namespace

QString CsvField(QString text) {
  // The regular expression is compiled once, because an export has tens of thousands of fields.
  static const QRegularExpression quoted(QStringLiteral("[\",\r\n]"));
  if (!text.contains(quoted)) return text;
  return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) +
         QLatin1Char('"');
}

void SetShownOffset(QCPAbstractPlottable* line, double offset) {
  line->setProperty(kShownOffset, offset);
}

void SetInTable(QCPAbstractPlottable* line, bool table) { line->setProperty(kInTable, table); }

void SetCellTexts(QCPColorMap* map, const QStringList& texts) {
  map->setProperty(kCellTexts, texts);
}

void SetCsvName(QCPAxis* axis, const QString& name) { axis->setProperty(kCsvName, name); }

void NoteElided(QCPAxis* axis, const QString& full) {
  axis->setProperty(kFullLabel, QStringList{full, axis->label()});
}

void SetPictureLabel(QCPAxis* axis, const QString& label) {
  axis->setProperty(kPictureLabel, label);
}

QString PictureLabel(const QCPAxis& axis) {
  const QString label = FullLabel(axis);
  return label.isEmpty() ? axis.property(kPictureLabel).toString() : label;
}

// If the label was set after NoteElided, it is not elided.
QString FullLabel(const QCPAxis& axis) {
  const QStringList noted = axis.property(kFullLabel).toStringList();
  return noted.value(1) == axis.label() && !noted.isEmpty() ? noted.front() : axis.label();
}

void SetIndexNames(QCPAxis* axis, const QStringList& names) {
  axis->setProperty(kIndexNames, names);
}

QString PlotCsv(Plot& plot, const QStringList& comments) {
  QString csv;
  QStringList above = {plot.title(), plot.caption()};
  above += comments;
  for (const QString& comment : above) {
    for (const QString& line : comment.split(QLatin1Char('\n'))) {
      if (!line.isEmpty()) csv += QStringLiteral("# ") + line + QLatin1Char('\n');
    }
  }
  std::vector<QCPAbstractPlottable*> series;
  bool bounds = false;
  bool mapped = false;
  for (int i = 0; i < plot.plottableCount(); ++i) {
    QCPAbstractPlottable* plottable = plot.plottable(i);
    auto* map = qobject_cast<QCPColorMap*>(plottable);
    const bool is_bars = qobject_cast<const QCPErrorBars*>(plottable) != nullptr;
    bounds = bounds || is_bars;
    if (map && map->visible()) {
      if (!mapped) csv += MapHeader(*map);
      mapped = true;
      AddMap(*map, csv);
    }
    const bool in_table = plottable->property(kInTable).toBool();
    if (!map && !is_bars && !in_table && plottable->visible()) series.push_back(plottable);
  }
  csv += plot.Table();
  if (series.empty()) return csv;
  csv += QStringLiteral("name,") + AxisName(plot, QCPAxis::atBottom, "x") + QLatin1Char(',') +
         AxisName(plot, QCPAxis::atLeft, "y") +
         (bounds ? QStringLiteral(",low,high\n") : QStringLiteral("\n"));
  for (QCPAbstractPlottable* one : series) AddSeries(*one, bounds, csv);
  return csv;
}

const QStringList& PlotFormats() {
  static const QStringList formats = {QStringLiteral("png"), QStringLiteral("svg"),
                                      QStringLiteral("pdf")};
  return formats;
}

void WritePlot(Plot& plot, const QString& path, const QString& format, int millimetres) {
  if (!PlotFormats().contains(format)) {
    throw UsageError("picture format '" + format.toStdString() + "'", "not known",
                     "Use " + PlotFormats().join(QStringLiteral(", ")).toStdString());
  }
  const PlotPicture picture(plot, millimetres);
  QSaveFile file(path);
  bool written = file.open(QIODevice::WriteOnly);
  if (format == QLatin1String("png")) {
    written = written && picture.WritePng(&file);
  } else if (format == QLatin1String("svg")) {
    written = written && picture.WriteSvg(&file);
  } else {
    written = written && picture.WritePdf(&file);
  }
  if (!written || !file.commit()) {
    throw Failure("'" + path.toStdString() + "'", "the picture could not be written",
                  "Check that the folder exists, may be written to and has space left");
  }
}

QStringList WritePlotFiles(Plot& plot, const QString& folder, const QString& stem,
                           const QStringList& formats, int millimetres,
                           const QStringList& comments) {
  if (!QDir().mkpath(folder)) {
    throw Failure("'" + folder.toStdString() + "'", "the folder could not be made",
                  "Choose a folder that may be written to");
  }
  QStringList paths;
  for (const QString& format : formats) {
    const QString path = QDir(folder).filePath(stem + QLatin1Char('.') + format);
    WritePlot(plot, path, format, millimetres);
    paths << path;
  }
  QSaveFile csv(QDir(folder).filePath(stem + QStringLiteral(".csv")));
  const QByteArray bytes = PlotCsv(plot, comments).toUtf8();
  if (!csv.open(QIODevice::WriteOnly) || csv.write(bytes) != bytes.size() || !csv.commit()) {
    throw Failure("'" + csv.fileName().toStdString() + "'",
                  "the picture's numbers could not be written",
                  "Check that the folder may be written to and has space left");
  }
  paths << csv.fileName();
  return paths;
}

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
