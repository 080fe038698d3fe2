// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/log_ticker.h"

#include <cmath>

namespace midscope {
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

}  // namespace midscope
