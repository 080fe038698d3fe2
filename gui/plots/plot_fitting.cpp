// SPDX-License-Identifier: GPL-3.0-or-later
// Plot: texts that are fitted to the size of the plot.
#include <algorithm>
#include <numeric>
#include <vector>

#include "gui/plots/curve_labels.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/wrapped_text.h"

namespace midscope {
namespace {

constexpr int kTextMargin = 16;
constexpr int kScaleWidth = 90;       // pixels of a colour scale including its numbers
constexpr int kFewestWide = 80;       // smallest width of a message, in pixels
constexpr int kLegendItemFrame = 44;  // pixels of the icon and margins of a legend item

// Returns the longest beginning of the text that fits and ends where a part of it ends: "nats" of
// "nats: −log p(answer)", "B" of "B: channel(100, factor=-1) — score". If none fits, the shortest
// one is elided.
QString ShownPart(const QString& text, const QFontMetrics& metrics, int width) {
  const auto fits = [&](const QString& part) { return metrics.horizontalAdvance(part) <= width; };
  if (fits(text)) return text;
  static const QStringList ends = {QStringLiteral(" — "), QStringLiteral("; "),
                                   QStringLiteral(", "), QStringLiteral(": "),
                                   QStringLiteral(" (")};
  QString shortest = text;
  for (qsizetype at = text.size(); at > 0; --at) {
    QString part = text.left(at);
    // A label before a colon in a later clause says nothing alone: "thin" of "thin: layers".
    const bool clause = part.contains(QStringLiteral("; "));
    const bool end = std::any_of(ends.begin(), ends.end(), [&](const QString& mark) {
      return QStringView(text).sliced(at).startsWith(mark) &&
             !(clause && mark == QStringLiteral(": "));
    });
    if (!end || part.count(QLatin1Char('(')) != part.count(QLatin1Char(')'))) continue;
    if (fits(part)) return part;
    shortest = part;
  }
  return metrics.elidedText(shortest, Qt::ElideRight, std::max(width, 0));
}

// Shows as much of the axis label as fits beside the axis.
void FitLabel(QCPAxis* axis, int length) {
  const QString label = FullLabel(*axis);
  const QString fits = ShownPart(label, QFontMetrics(axis->labelFont()), length);
  if (fits == axis->label()) return;
  axis->setLabel(fits);
  NoteElided(axis, label);
}

}  // namespace

void Plot::FitText() {
  const bool scale = plotLayout()->columnCount() > 1;
  const int width = viewport().width() - kTextMargin;
  const int title_width = width - (scale ? kScaleWidth : 0);
  const QFontMetrics title_metrics(title_->font());
  title_->setText(in_picture() ? Wrapped(full_title_, title_metrics, title_width)
                               : ShownPart(full_title_, title_metrics, title_width));
  if (curve_labels_) curve_labels_->Fit();
  if (most_in_a_row_ >= 0) {
    FitLegend(width);
    ShowLegendIfHigh();
  }
  if (caption_text_) {
    caption_text_->setText(
        Wrapped(PictureCaption(), QFontMetrics(caption_text_->font()), title_width));
  }
  if (older_text_) {
    older_text_->setText(
        Wrapped(older_note_, QFontMetrics(font()), std::max(axisRect()->width(), kFewestWide)));
  }
  if (empty_message_) {
    empty_message_->setText(
        Wrapped(empty_text_, QFontMetrics(font()), std::max(width, kFewestWide)));
  }
}

// Runs after the layout, which does not depend on the length of the labels.
void Plot::FitYAxis() {
  if (!yAxis || axisRectCount() == 0) return;  // a grid of panels has axes of its own
  // On a low plot, more numbers would overlap.
  constexpr int kMostTicks = 5;
  const int height = axisRect()->height();
  const int line = QFontMetrics(yAxis->tickLabelFont()).height();
  const int ticks = std::clamp(height / (2 * line), 2, kMostTicks);
  std::vector<QCPAxis*> axes = {yAxis};
  for (int i = 0; i < plotLayout()->elementCount(); ++i) {
    if (auto* scale = qobject_cast<QCPColorScale*>(plotLayout()->elementAt(i)))
      axes.push_back(scale->axis());
  }
  bool again = false;  // the ticks of this replot are already chosen
  for (QCPAxis* axis : axes) {
    if (ticks != axis->ticker()->tickCount()) {
      axis->ticker()->setTickCount(ticks);
      again = true;
    }
    if (!in_picture()) FitLabel(axis, height);  // in a picture it is broken into lines
  }
  if (!in_picture()) FitLabel(xAxis, axisRect()->width());
  if (again) QueueReplot();
}

QString Plot::LabelTip(const QPointF& position) const {
  if (title_->outerRect().contains(position.toPoint()) && title_->text() != full_title_)
    return full_title_;
  if (!yAxis || axisRectCount() == 0) return {};
  const QRect axes = axisRect()->rect();
  const bool beside =
      position.x() < axes.left() && position.y() > axes.top() && position.y() < axes.bottom();
  const QString label = FullLabel(*yAxis);
  return beside && label != yAxis->label() ? label : QString();
}

// Puts as many names per row as fit.
void Plot::FitLegend(int width) {
  QVector<int> widths;
  for (int i = 0; i < legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(legend->item(i));
    const QString name = item ? item->plottable()->name() : QString();
    widths.append(QFontMetrics(legend->font()).horizontalAdvance(name) + kLegendItemFrame);
  }
  const auto count = static_cast<int>(widths.size());
  int columns = most_in_a_row_ > 0 ? std::min(most_in_a_row_, count) : count;
  const auto needed = [&widths](int in_a_row) {
    QVector<int> widest(in_a_row, 0);
    for (qsizetype i = 0; i < widths.size(); ++i) {
      widest[i % in_a_row] = std::max(widest[i % in_a_row], widths[i]);
    }
    return std::accumulate(widest.begin(), widest.end(), 0);
  };
  while (columns > 1 && needed(columns) > width) --columns;
  if (columns == legend->wrap()) return;
  legend->setWrap(columns);
  legend->setFillOrder(QCPLegend::foColumnsFirst, true);
}

void Plot::ShowLegendIfHigh() {
  const bool placed = legend->layout() != nullptr;
  if (curve_labels_ && !placed) return;  // labels at the lines instead
  constexpr int kLeastLines = 3;         // height of the smallest plotting area, in lines of text
  constexpr int kOtherLines = 4;         // title, label and numbers of the x axis, margins
  const int rows =
      legend->wrap() > 0 ? (legend->itemCount() + legend->wrap() - 1) / legend->wrap() : 1;
  const int line = QFontMetrics(font()).lineSpacing();
  const bool high = in_picture() || legend->itemCount() == 0 ||
                    viewport().height() >= (rows + kOtherLines + kLeastLines) * line;
  if (high == placed) return;
  legend->setVisible(high);
  if (high) {
    plotLayout()->addElement(1, 0, legend);
  } else {
    plotLayout()->take(legend);
  }
}

}  // namespace midscope
