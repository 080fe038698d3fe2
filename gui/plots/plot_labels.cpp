// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot_labels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "gui/plots/plot_style.h"

namespace midscope {

namespace {

constexpr double kGap = 4;  // pixels between two labels
constexpr double kHalfTurn = 180;
constexpr int kIconAndMargins = 44;  // pixels of an item of the legend beside its name

class ThinTicker : public QCPAxisTicker {
 public:
  ThinTicker(QSharedPointer<QCPAxisTicker> own, QCPAxis* axis) : own_(std::move(own)), axis_(axis) {
    setTickCount(own_->tickCount());
  }

  void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision,
                QVector<double>& ticks, QVector<double>* sub_ticks,
                QVector<QString>* labels) override {
    own_->generate(range, locale, format, precision, ticks, sub_ticks, labels);
    if (labels) Thin(ticks, *labels);
  }

 private:
  // The distance in pixels that two neighbouring labels need along the axis.
  double Needed(const QString& label, const QString& next) const {
    const QFontMetricsF metrics(axis_->tickLabelFont());
    const double turn = std::abs(axis_->tickLabelRotation()) * std::numbers::pi / kHalfTurn;
    if (axis_->orientation() == Qt::Vertical) return metrics.height();
    if (turn == 0) return (metrics.horizontalAdvance(label) + metrics.horizontalAdvance(next)) / 2;
    return metrics.height() / std::sin(turn);  // parallel lines of text
  }

  // Keeps evenly spaced labels: every one, every second, ...
  void Thin(const QVector<double>& ticks, QVector<QString>& labels) const {
    const auto fits = [&](qsizetype step) {
      for (qsizetype i = step; i < std::min(ticks.size(), labels.size()); i += step) {
        const double apart =
            std::abs(axis_->coordToPixel(ticks[i]) - axis_->coordToPixel(ticks[i - step]));
        if (apart < Needed(labels[i - step], labels[i]) + kGap) return false;
      }
      return true;
    };
    qsizetype step = 1;
    while (step < labels.size() && !fits(step)) ++step;
    for (qsizetype i = 0; i < labels.size(); ++i) {
      if (i % step != 0) labels[i].clear();
    }
  }

  QSharedPointer<QCPAxisTicker> own_;
  QCPAxis* axis_;
};

}  // namespace

ThinLabels::ThinLabels(QCustomPlot& plot) {
  const auto change = [this](QCPAxis* axis) {
    if (!axis->visible() || !axis->tickLabels()) return;
    changed_.push_back({axis, axis->ticker()});
    axis->setTicker(QSharedPointer<ThinTicker>::create(axis->ticker(), axis));
  };
  for (const QCPAxisRect* rect : plot.axisRects()) {
    for (QCPAxis* axis : rect->axes()) change(axis);
  }
  for (int i = 0; i < plot.plotLayout()->elementCount(); ++i) {
    auto* scale = qobject_cast<QCPColorScale*>(plot.plotLayout()->elementAt(i));
    if (scale) change(scale->axis());
  }
  if (plot.legend && plot.legend->layout()) ElideNames(plot);
}

// In the middle, because settings often differ at their ends.
void ThinLabels::ElideNames(const QCustomPlot& plot) {
  const int columns = std::max(plot.legend->wrap(), 1);
  const int width = plot.viewport().width() / columns - kIconAndMargins;
  const QFontMetrics metrics(plot.legend->font());
  for (int i = 0; i < plot.legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(plot.legend->item(i));
    const QString name = item ? item->plottable()->name() : QString();
    if (metrics.horizontalAdvance(name) <= width) continue;
    names_.push_back({item->plottable(), name});
    item->plottable()->setName(metrics.elidedText(name, Qt::ElideMiddle, width));
  }
}

ThinLabels::~ThinLabels() {
  for (const Name& name : names_) {
    if (name.line) name.line->setName(name.full);
  }
  for (const Changed& one : changed_) {
    if (!one.axis) continue;
    one.ticker->setTickCount(one.axis->ticker()->tickCount());
    one.axis->setTicker(one.ticker);
  }
}

namespace {

constexpr double kNarrow = 30;  // upper by lower end; from here on, two powers of ten are visible
constexpr int kDigits = 4;      // of a label

}  // namespace

void LogTicker::Use(QCPAxis* axis) {
  axis->setScaleType(QCPAxis::stLogarithmic);
  axis->setTicker(QSharedPointer<LogTicker>::create());
  axis->setNumberFormat(QStringLiteral("eb"));
  axis->setNumberPrecision(0);
}

double LogTicker::getTickStep(const QCPRange& range) {
  narrow_ = range.lower > 0 && range.upper < range.lower * kNarrow;
  return narrow_ ? QCPAxisTicker::getTickStep(range) : QCPAxisTickerLog::getTickStep(range);
}

QVector<double> LogTicker::createTickVector(double step, const QCPRange& range) {
  // A narrow range has the ticks of a linear axis. NOLINTNEXTLINE(bugprone-parent-virtual-call)
  return narrow_ ? QCPAxisTicker::createTickVector(step, range)
                 : QCPAxisTickerLog::createTickVector(step, range);
}

// A number as a power of ten would be rounded to one digit.
QString LogTicker::getTickLabel(double tick, const QLocale& locale, QChar format, int precision) {
  return narrow_ ? locale.toString(tick, 'g', kDigits)
                 : QCPAxisTickerLog::getTickLabel(tick, locale, format, precision);
}

int LogTicker::getSubTickCount(double step) {
  return narrow_ ? 0 : QCPAxisTickerLog::getSubTickCount(step);
}

namespace {

constexpr size_t kMostCurves = 4;
constexpr double kWidest = 0.28;   // of the plot's width
constexpr double kHighest = 0.45;  // all labels together, of the plot's height
constexpr int kEndGap = 6;         // pixels between a line and its label
constexpr int kUsualMargin = 15;   // of QCPAxisRect
constexpr int kDarker = 125;       // per cent, for text on a light background

// The value of the last visible point; nullopt if no point is visible.
std::optional<double> LastValue(const QCPGraph& graph) {
  const QCPRange shown = graph.keyAxis()->range();
  const auto begin = graph.data()->findBegin(shown.lower, false);
  auto point = graph.data()->findEnd(shown.upper, false);
  while (point != begin) {
    --point;
    if (std::isfinite(point->value)) return point->value;
  }
  return std::nullopt;
}

}  // namespace

CurveLabels::CurveLabels(QCustomPlot* plot, int row) : plot_(plot), row_(row) {
  for (size_t i = 0; i < kMostCurves; ++i) {
    auto* item = new QCPItemText(plot);
    item->setClipToAxisRect(false);
    item->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    item->setTextAlignment(Qt::AlignLeft);
    item->position->setType(QCPItemPosition::ptAbsolute);
    item->setVisible(false);
    items_.push_back(item);
  }
}

std::vector<const QCPGraph*> CurveLabels::Curves() const {
  std::vector<const QCPGraph*> curves;
  for (int i = 0; i < plot_->legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(plot_->legend->item(i));
    const auto* graph = item ? qobject_cast<const QCPGraph*>(item->plottable()) : nullptr;
    if (!graph) return {};
    if (graph->visible()) curves.push_back(graph);
  }
  return curves;
}

void CurveLabels::ShowLegend(bool shown) {
  const bool placed = plot_->legend->layout() != nullptr;
  plot_->legend->setVisible(shown);
  if (shown && !placed) plot_->plotLayout()->addElement(row_, 0, plot_->legend);
  if (!shown && placed) plot_->plotLayout()->take(plot_->legend);
}

void CurveLabels::Fit() {
  labels_.clear();
  for (QCPItemText* item : items_) item->setVisible(false);
  const std::vector<const QCPGraph*> curves = Curves();
  const QRect all = plot_->viewport();
  const QFont font = plot_->font();
  const QFontMetrics metrics(font);
  const bool light = plot_->palette().color(QPalette::Base).lightnessF() > 0.5;
  double height = 0;
  int widest = 0;
  for (size_t i = 0; i < std::min(curves.size(), items_.size()); ++i) {
    QCPItemText* item = items_[i];
    const QColor color = curves[i]->pen().color();
    item->setFont(font);
    item->setColor(QColor(color.rgb()).darker(light ? kDarker : 100));
    item->setText(Wrapped(curves[i]->name(), metrics, static_cast<int>(kWidest * all.width())));
    const QSize size = metrics.boundingRect(QRect(), Qt::TextDontClip, item->text()).size();
    widest = std::max(widest, size.width());
    height += size.height();
    labels_.push_back({item, curves[i], static_cast<double>(size.height()), 0});
  }
  if (curves.size() > kMostCurves || height > kHighest * all.height()) labels_.clear();
  ShowLegend(labels_.empty());
  const int right = labels_.empty() ? kUsualMargin : widest + 2 * kEndGap;
  plot_->axisRect()->setMinimumMargins(QMargins(kUsualMargin, kUsualMargin, right, kUsualMargin));
}

// Labels are moved apart downwards, and back upwards if the last one leaves the axes.
void CurveLabels::Place() {
  const QRect axes = plot_->axisRect()->rect();
  std::vector<Label*> order;
  for (Label& label : labels_) {
    const std::optional<double> value = LastValue(*label.graph);
    label.text->setVisible(value.has_value());
    if (!value) continue;
    const double wanted = label.graph->valueAxis()->coordToPixel(*value);
    label.y = std::clamp(wanted, axes.top() + label.height / 2,
                         std::max(axes.top() + label.height / 2, axes.bottom() - label.height / 2));
    order.push_back(&label);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Label* left, const Label* right) { return left->y < right->y; });
  const auto apart = [](const Label& upper, const Label& lower) {
    return (upper.height + lower.height) / 2;
  };
  for (size_t i = 1; i < order.size(); ++i)
    order[i]->y = std::max(order[i]->y, order[i - 1]->y + apart(*order[i - 1], *order[i]));
  if (!order.empty())
    order.back()->y = std::min(order.back()->y, axes.bottom() - order.back()->height / 2);
  for (size_t i = order.size(); i > 1; --i) {
    order[i - 2]->y =
        std::min(order[i - 2]->y, order[i - 1]->y - apart(*order[i - 2], *order[i - 1]));
  }
  for (const Label* label : order)
    label->text->position->setPixelPosition({axes.right() + double{kEndGap}, label->y});
}

std::vector<const QCPItemText*> CurveLabels::shown() const {
  std::vector<const QCPItemText*> shown;
  for (const Label& label : labels_) {
    if (label.text->visible()) shown.push_back(label.text);
  }
  return shown;
}

}  // namespace midscope
