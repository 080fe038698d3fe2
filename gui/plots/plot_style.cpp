// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot_style.h"

#include <QCoreApplication>

namespace midscope {

namespace {

void StyleAxis(QCPAxis* axis, const QColor& text, const QColor& line, const QColor& grid) {
  axis->setBasePen(QPen(line, 1));
  axis->setTickPen(QPen(line, 1));
  axis->setSubTickPen(QPen(line, 1));
  axis->setTickLabelColor(text);
  axis->setLabelColor(text);
  axis->grid()->setPen(QPen(grid, 0));
  axis->grid()->setZeroLinePen(QPen(line, 0));
}

}  // namespace

QCPColorGradient ViridisGradient() {
  QCPColorGradient gradient;
  // matplotlib's viridis at steps of 0.1 (CC0).
  gradient.setColorStops({{0.0, QColor(68, 1, 84)},
                          {0.1, QColor(72, 36, 117)},
                          {0.2, QColor(65, 68, 135)},
                          {0.3, QColor(53, 95, 141)},
                          {0.4, QColor(42, 120, 142)},
                          {0.5, QColor(33, 145, 140)},
                          {0.6, QColor(34, 168, 132)},
                          {0.7, QColor(68, 191, 112)},
                          {0.8, QColor(122, 209, 81)},
                          {0.9, QColor(189, 223, 38)},
                          {1.0, QColor(253, 231, 37)}});
  gradient.setNanHandling(QCPColorGradient::nhNanColor);
  gradient.setNanColor(NoValueColor());
  return gradient;
}

QCPColorGradient DifferenceGradient() {
  QCPColorGradient gradient;
  gradient.setColorStops({{0.0, QColor(178, 24, 43)},
                          {0.25, QColor(239, 138, 98)},
                          {0.5, QColor(247, 247, 247)},
                          {0.75, QColor(103, 169, 207)},
                          {1.0, QColor(33, 102, 172)}});
  gradient.setNanHandling(QCPColorGradient::nhNanColor);
  gradient.setNanColor(NoValueColor());
  return gradient;
}

QColor NoValueColor() { return {150, 150, 150}; }

QString ColorOrderText(const QString& lines) {
  return QCoreApplication::translate("midscope", "%1 from dark (first) to light (last)").arg(lines);
}

QColor SideColor(Side side) {
  return side == Side::kA ? QColor(0x3b, 0x82, 0xc4) : QColor(0xe8, 0x6f, 0x1c);
}

QColor GoldColor() { return {240, 190, 30}; }

QPen OlderPen(double width) { return {QColor(128, 128, 128), width, Qt::DotLine}; }

void MarkSinglePoint(QCPGraph* line) {
  if (line->dataCount() == 1) line->setScatterStyle({QCPScatterStyle::ssDisc, 5});
}

void ApplyPalette(QCustomPlot* plot, const QPalette& palette) {
  const QColor text = palette.color(QPalette::Text);
  QColor line = text;
  line.setAlpha(140);
  QColor grid = text;
  grid.setAlpha(35);
  plot->setBackground(palette.color(QPalette::Base));
  for (QCPAxisRect* rect : plot->axisRects()) {
    for (QCPAxis* axis : rect->axes()) StyleAxis(axis, text, line, grid);
  }
  for (int i = 0; i < plot->plotLayout()->elementCount(); ++i) {
    QCPLayoutElement* element = plot->plotLayout()->elementAt(i);
    if (auto* title = qobject_cast<QCPTextElement*>(element)) title->setTextColor(text);
    if (auto* scale = qobject_cast<QCPColorScale*>(element)) {
      StyleAxis(scale->axis(), text, line, grid);
    }
  }
  if (plot->legend) {
    plot->legend->setTextColor(text);
    plot->legend->setBrush(Qt::NoBrush);
    plot->legend->setBorderPen(Qt::NoPen);
  }
}

QPalette LightPalette() {
  QPalette palette;
  palette.setColor(QPalette::Base, Qt::white);
  palette.setColor(QPalette::Text, QColor(25, 25, 25));
  palette.setColor(QPalette::Window, QColor(240, 240, 240));
  palette.setColor(QPalette::WindowText, QColor(25, 25, 25));
  return palette;
}

namespace {

// The number of characters of a word that fit into the width, at least one: up to the last
// punctuation mark in the second half of the line, if there is one.
qsizetype FittingPart(const QString& word, const QFontMetrics& metrics, int width) {
  qsizetype fits = 1;
  while (fits < word.size() && metrics.horizontalAdvance(word.left(fits + 1)) <= width) ++fits;
  for (qsizetype end = fits; end > fits / 2; --end) {
    if (QStringLiteral(",;+=/-_.)").contains(word[end - 1])) return end;
  }
  return fits;
}

}  // namespace

QString Wrapped(const QString& text, const QFontMetrics& metrics, int width) {
  QStringList lines;
  QString line;
  for (QString word : text.split(QLatin1Char(' '))) {
    const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
    if (metrics.horizontalAdvance(longer) <= width) {
      line = longer;
      continue;
    }
    if (!line.isEmpty()) lines << line;
    while (metrics.horizontalAdvance(word) > width && word.size() > 1) {
      const qsizetype part = FittingPart(word, metrics, width);
      if (part >= word.size()) break;
      lines << word.left(part);
      word.remove(0, part);
    }
    line = word;
  }
  lines << line;
  return lines.join(QLatin1Char('\n'));
}

ScaledMap MakeScaledMap(QCustomPlot* plot) {
  auto* map = new QCPColorMap(plot->xAxis, plot->yAxis);
  map->setInterpolate(false);
  map->setTightBoundary(false);
  auto* scale = new QCPColorScale(plot);
  scale->setType(QCPAxis::atRight);
  scale->setBarWidth(12);
  scale->setRangeDrag(false);
  scale->setRangeZoom(false);
  scale->axis()->setTickLabelFont(plot->font());
  scale->axis()->setLabelFont(plot->font());
  map->setColorScale(scale);
  auto* group = new QCPMarginGroup(plot);
  const QCP::MarginSides sides = {QCP::msBottom, QCP::msTop};
  plot->axisRect()->setMarginGroup(sides, group);
  scale->setMarginGroup(sides, group);
  return {map, scale};
}

void SetCells(QCPColorMap* map, int columns, int rows) {
  map->data()->setSize(columns, rows);
  const auto range = [](int cells) {
    return cells == 1 ? QCPRange(-0.5, 0.5) : QCPRange(0, cells - 1);
  };
  if (columns > 0 && rows > 0) map->data()->setRange(range(columns), range(rows));
}

}  // namespace midscope
