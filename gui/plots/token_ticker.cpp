// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/token_ticker.h"

#include <algorithm>
#include <cmath>

#include "gui/base/record_access.h"

namespace midscope {
namespace {

constexpr qsizetype kLongestText = 14;  // letters
constexpr double kSlant = 60;           // degrees

}  // namespace

QSharedPointer<TokenTicker> TokenTicker::Use(QCPAxis* axis) {
  auto ticker = QSharedPointer<TokenTicker>::create();
  axis->setTicker(ticker);
  const auto slant = [axis, known = ticker.toWeakRef()] {
    const auto own = known.toStrongRef();
    const bool texts = own && own->ShowsTexts(axis->range());
    axis->setTickLabelRotation(texts ? kSlant : 0);
  };
  QObject::connect(axis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), axis, slant);
  return ticker;
}

bool TokenTicker::ShowsTexts(const QCPRange& range) const {
  return !tokens_.isEmpty() && range.size() < kMostTexts;
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
