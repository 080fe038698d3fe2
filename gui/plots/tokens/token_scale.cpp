// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/tokens/token_scale.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "gui/base/record_access.h"

namespace midscope {

namespace {

constexpr double kScaleDecades = 3;
constexpr int kScaleBarWidth = 90;
constexpr int kBarGap = 4;

QColor Blend(const QColor& background, const QColor& hue, double share) {
  const auto mix = [share](int from, int to) {
    return static_cast<int>(std::lround(from + share * (to - from)));
  };
  return {mix(background.red(), hue.red()), mix(background.green(), hue.green()),
          mix(background.blue(), hue.blue())};
}

QColor MoreColor() { return {33, 102, 172}; }
QColor LessColor() { return {178, 24, 43}; }

}  // namespace

double TokenScale::StrengthOf(double value) const {
  if (std::isnan(value) || !(highest > 0)) return 0;
  const double share = std::min(std::abs(value) / highest, 1.0);
  if (diverging || !logarithmic) return value < 0 && !diverging ? 0 : share;
  return value > 0 ? std::clamp(1 + std::log10(share) / kScaleDecades, 0.0, 1.0) : 0;
}

QColor TokenScale::ColorOf(double value, const QColor& background) const {
  if (std::isnan(value)) return {};
  const QColor full = !diverging ? hue : value < 0 ? LessColor() : MoreColor();
  return Blend(background, full, StrengthOf(value));
}

TokenScale ScaleOf(const std::vector<QVector<double>>& rows, int64_t skipped) {
  TokenScale scale;
  for (const QVector<double>& row : rows) {
    for (qsizetype i = 0; i < row.size(); ++i) {
      if (std::isnan(row[i])) continue;
      if (row[i] < 0) scale.diverging = true;
      if (i >= skipped) scale.highest = std::max(scale.highest, std::abs(row[i]));
    }
  }
  return scale;
}

TokenScaleBar::TokenScaleBar(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void TokenScaleBar::Show(const TokenScale& scale, const QString& name) {
  setToolTip(name);
  if (scale == scale_) return;
  scale_ = scale;
  updateGeometry();
  update();
}

QString TokenScaleBar::LowText() const {
  if (scale_.diverging) return QString::number(-scale_.highest, 'g', 2);
  return scale_.logarithmic ? QString::number(scale_.highest * std::pow(10, -kScaleDecades), 'g', 2)
                            : QStringLiteral("0");
}

QString TokenScaleBar::HighText() const {
  return QStringLiteral("≥ ") + QString::number(scale_.highest, 'g', 2);
}

QSize TokenScaleBar::sizeHint() const {
  const QFontMetrics metrics = fontMetrics();
  return {kScaleBarWidth + 2 * kBarGap + metrics.horizontalAdvance(QStringLiteral("-0.00012")) +
              metrics.horizontalAdvance(QStringLiteral("≥ 0.00012")),
          metrics.height() + 4};
}

void TokenScaleBar::paintEvent(QPaintEvent* /*event*/) {
  if (!(scale_.highest > 0)) return;
  QPainter painter(this);
  const QFontMetrics metrics = fontMetrics();
  const int left = metrics.horizontalAdvance(LowText()) + kBarGap;
  const QRect bar(left, 2, kScaleBarWidth, height() - 4);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(0, 0, left - kBarGap, height()), Qt::AlignVCenter, LowText());
  painter.drawText(QRect(bar.right() + kBarGap, 0, width(), height()),
                   Qt::AlignVCenter | Qt::AlignLeft, HighText());
  TokenScale shown = scale_;
  shown.logarithmic = false;  // the bar's colours are evenly spaced
  shown.highest = 1;
  for (int x = 0; x < bar.width(); ++x) {
    const double share = static_cast<double>(x) / (bar.width() - 1);
    const double value = shown.diverging ? 2 * share - 1 : share;
    painter.setPen(shown.ColorOf(value, palette().color(QPalette::Base)));
    painter.drawLine(bar.left() + x, bar.top(), bar.left() + x, bar.bottom());
  }
  painter.setPen(palette().color(QPalette::Mid));
  painter.drawRect(bar.adjusted(0, 0, -1, -1));
}

namespace {

constexpr qsizetype kLongestText = 14;  // in characters
constexpr double kSlant = 60;           // in degrees
constexpr int kLeastHeight = 200;       // pixels of a plot that has room for slanted texts

}  // namespace

QSharedPointer<TokenTicker> TokenTicker::Use(QCPAxis* axis) {
  auto ticker = QSharedPointer<TokenTicker>::create();
  ticker->axis_ = axis;
  axis->setTicker(ticker);
  const auto slant = [axis, known = ticker.toWeakRef()] {
    const auto own = known.toStrongRef();
    const bool texts = own && own->ShowsTexts(axis->range());
    axis->setTickLabelRotation(texts ? kSlant : 0);
  };
  QObject::connect(axis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), axis, slant);
  QObject::connect(axis->parentPlot(), &QCustomPlot::beforeReplot, axis, slant);
  return ticker;
}

bool TokenTicker::ShowsTexts(const QCPRange& range) const {
  const bool high = axis_ && axis_->parentPlot()->viewport().height() >= kLeastHeight;
  return high && !tokens_.isEmpty() && range.size() < kMostTexts;
}

double TokenTicker::getTickStep(const QCPRange& range) {
  texts_ = ShowsTexts(range);
  return texts_ ? 1 : std::max(1.0, std::round(QCPAxisTicker::getTickStep(range)));
}

int TokenTicker::getSubTickCount(double step) {
  return step <= 1 ? 0 : QCPAxisTicker::getSubTickCount(step);
}

QString TokenTicker::getTickLabel(double tick, const QLocale& locale, QChar format, int precision) {
  if (!texts_) return QCPAxisTicker::getTickLabel(tick, locale, format, precision);
  const auto position = static_cast<qsizetype>(std::llround(tick));
  if (position < 0 || position >= tokens_.size()) return {};
  QString text = ShownToken(tokens_[position]);
  if (text.size() > kLongestText) text = text.left(kLongestText) + QChar(0x2026);
  return text;
}

}  // namespace midscope
