// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of tokens by a number: from the background to one hue, for numbers with a sign to
// blue (above 0) and red (below).
#pragma once

#include <vector>

#include <QColor>
#include <QStringList>
#include <QVector>
#include <QWidget>

#include "gui/plots/custom_plot.h"

namespace midscope {

struct TokenScale {
  double highest = 0;        // the largest magnitude, in full colour; larger ones have the same
  bool diverging = false;    // the numbers have a sign
  bool logarithmic = false;  // over three decades below `highest`; not of numbers with a sign
  QColor hue;
  bool operator==(const TokenScale&) const = default;

  // 0 for the background, 1 for the full colour; NaN: 0.
  double StrengthOf(double value) const;
  // Invalid for NaN.
  QColor ColorOf(double value, const QColor& background) const;
};

// The scale of several rows together: of their largest magnitude, without the `skipped` first
// tokens, with a sign where a number is below 0.
TokenScale ScaleOf(const std::vector<QVector<double>>& rows, int64_t skipped);

// A bar from the least to the largest number of a scale.
class TokenScaleBar : public QWidget {
  Q_OBJECT

 public:
  explicit TokenScaleBar(QWidget* parent = nullptr);

  void Show(const TokenScale& scale, const QString& name);
  const TokenScale& scale() const { return scale_; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString LowText() const;
  QString HighText() const;

  TokenScale scale_;
};

// Ticks of an axis over tokens: whole positions; where few tokens are shown, their texts.

class TokenTicker : public QCPAxisTicker {
 public:
  // For fewer tokens than this the texts are shown.
  static constexpr int kMostTexts = 32;

  // Gives the axis such a ticker, whose labels are slanted while they are texts.
  static QSharedPointer<TokenTicker> Use(QCPAxis* axis);

  void SetTokens(const QStringList& tokens) { tokens_ = tokens; }

 protected:
  double getTickStep(const QCPRange& range) override;
  int getSubTickCount(double step) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

 private:
  bool ShowsTexts(const QCPRange& range) const;

  QStringList tokens_;
  bool texts_ = false;
};

}  // namespace midscope
