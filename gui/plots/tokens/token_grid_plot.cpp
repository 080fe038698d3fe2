// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/tokens/token_grid_plot.h"

#include <algorithm>
#include <cmath>

#include "gui/base/record_access.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr int kSmallestText = 6;  // pixels; smaller cells have no text
constexpr int kCellPadding = 4;
// Rotation in degrees of names that are wider than their column.
constexpr double kNarrowRotation = 60;
// Viridis is light at and above this probability.
constexpr double kDarkTextFrom = 0.6;

// The text of a token with visible white space if it has no other characters.
QString VisibleText(const QString& text) {
  if (text.isEmpty() || !text.trimmed().isEmpty()) return text;
  const QString quoted = ShownToken(text);
  return quoted.mid(1, quoted.size() - 2);
}

// A number is never elided, because its first digits would be read as the number.
QString FittedText(const TokenGridPlot::Cell& cell, const QFontMetrics& metrics, int width) {
  const QString text = VisibleText(cell.text);
  if (cell.brief.isEmpty() || metrics.horizontalAdvance(text) <= width)
    return metrics.elidedText(text, Qt::ElideRight, width);
  return metrics.horizontalAdvance(cell.brief) <= width ? cell.brief : QString();
}

}  // namespace

TokenGridPlot::TokenGridPlot(const QString& row_name, const QString& file_stem, QWidget* parent)
    : Plot(QString(), file_stem, parent) {
  const ScaledMap scaled = MakeScaledMap(this);
  map_ = scaled.map;
  scale_ = scaled.scale;
  plotLayout()->addElement(1, 1, scale_);
  map_->setGradient(ViridisGradient());
  map_->setDataRange(QCPRange(0, 1));
  scale_->setLabel(tr("probability"));
  map_->setName(tr("probability"));
  yAxis->setLabel(row_name);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->grid()->setVisible(false);
    axis->setSubTicks(false);
  }
  auto whole = QSharedPointer<QCPAxisTickerFixed>::create();
  whole->setTickStep(1);
  whole->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
  yAxis->setTicker(whole);
  connect(this, &QCustomPlot::afterLayout, this, &TokenGridPlot::FitCells);
  ApplyPalette(this, palette());
  Show({});
}

void TokenGridPlot::Show(const Grid& grid) {
  if (grid == grid_ && !grid.cells.isEmpty()) return;
  const bool same_shape = grid.rows() == grid_.rows() && grid.columns == grid_.columns;
  grid_ = grid;
  const auto columns = static_cast<int>(grid.columns.size());
  const auto rows = static_cast<int>(grid.rows());
  SetCells(map_, columns, rows);
  for (QCPItemText* text : texts_) removeItem(text);
  for (QCPItemRect* frame : frames_) removeItem(frame);
  texts_.clear();
  frames_.clear();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const Cell& cell = grid_.cells[row * columns + column];
      map_->data()->setCell(column, row, cell.probability);
      auto* text = new QCPItemText(this);
      text->position->setCoords(column, row);
      text->setPositionAlignment(Qt::AlignCenter);
      texts_.append(text);
      if (!cell.marked) continue;
      auto* frame = new QCPItemRect(this);
      frame->topLeft->setCoords(column - 0.48, row + 0.46);
      frame->bottomRight->setCoords(column + 0.48, row - 0.46);
      frames_.append(frame);
    }
  }
  auto ticks = QSharedPointer<QCPAxisTickerText>::create();
  for (int column = 0; column < columns; ++column) ticks->addTick(column, grid_.columns[column]);
  xAxis->setTicker(ticks);
  SetIndexNames(xAxis, grid_.columns);
  QStringList words;
  for (const Cell& cell : grid_.cells) words << cell.text;
  SetCellTexts(map_, words);
  SetEmptyMessage(rows > 0 ? QString() : tr("Nothing to show"));
  for (QCPAxis* axis : {xAxis, yAxis}) axis->setVisible(rows > 0);
  scale_->setVisible(rows > 0);
  RestyleData();
  if (!same_shape) ResetView();
  QueueReplot();
}

TokenGridPlot::Cell TokenGridPlot::CellAt(qsizetype row, qsizetype column) const {
  const qsizetype columns = grid_.columns.size();
  if (row < 0 || column < 0 || column >= columns) return {};
  return grid_.cells.value(row * columns + column);
}

void TokenGridPlot::RestyleData() {
  for (qsizetype i = 0; i < texts_.size(); ++i) {
    const double probability = grid_.cells[i].probability;
    texts_[i]->setColor(std::isnan(probability)       ? palette().color(QPalette::Text)
                        : probability > kDarkTextFrom ? QColor(Qt::black)
                                                      : QColor(Qt::white));
  }
  for (QCPItemRect* frame : frames_) frame->setPen(QPen(GoldColor(), 2));
}

void TokenGridPlot::FitCells() {
  if (texts_.isEmpty()) return;
  const auto pixels = [](const QCPAxis* axis) {
    return static_cast<int>(std::abs(axis->coordToPixel(1) - axis->coordToPixel(0)));
  };
  const int width = pixels(xAxis) - kCellPadding;
  const int height = pixels(yAxis) - 1;
  QFont font = this->font();
  const int usual = QFontMetrics(font).height();
  if (height < usual) font.setPixelSize(std::max(kSmallestText, height * 8 / 10));
  int widest = 0;
  for (const QString& name : grid_.columns)
    widest = std::max(widest, QFontMetrics(xAxis->tickLabelFont()).horizontalAdvance(name));
  const double rotation = widest > width ? kNarrowRotation : 0;
  if (rotation != xAxis->tickLabelRotation()) {
    xAxis->setTickLabelRotation(rotation);
    QueueReplot();
  }
  const QFontMetrics metrics(font);
  const bool fits = height >= kSmallestText && width > metrics.horizontalAdvance(QLatin1Char('n'));
  for (qsizetype i = 0; i < texts_.size(); ++i) {
    texts_[i]->setVisible(fits);
    texts_[i]->setFont(font);
    texts_[i]->setText(FittedText(grid_.cells[i], metrics, width));
  }
}

int TokenGridPlot::PictureArea(int width) {
  const int line = QFontMetrics(font()).height() + 2;
  return std::max(Plot::PictureArea(width), static_cast<int>(grid_.rows()) * line);
}

// Exported files are drawn without a replot.
void TokenGridPlot::draw(QCPPainter* painter) {
  updateLayout();
  FitCells();
  Plot::draw(painter);
}

void TokenGridPlot::ResetView() {
  xAxis->setRange(-0.5, std::max<double>(static_cast<double>(grid_.columns.size()), 1) - 0.5);
  yAxis->setRange(-0.5, std::max<double>(static_cast<double>(grid_.rows()), 1) - 0.5);
}

QString TokenGridPlot::TooltipAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return {};
  const auto column = std::llround(xAxis->pixelToCoord(position.x()));
  const auto row = std::llround(yAxis->pixelToCoord(position.y()));
  const Cell cell = CellAt(row, column);
  if (cell.text.isEmpty()) return {};
  QString tip = QStringLiteral("%1 %2, %3\n%4")
                    .arg(FullLabel(*yAxis))
                    .arg(row)
                    .arg(grid_.columns.value(column), VisibleText(cell.text));
  if (!std::isnan(cell.probability)) tip += tr("\nprobability %1").arg(cell.probability, 0, 'g', 4);
  if (!cell.note.isEmpty()) tip += QLatin1Char('\n') + cell.note;
  return tip;
}

}  // namespace midscope
