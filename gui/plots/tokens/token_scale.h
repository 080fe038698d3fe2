// SPDX-License-Identifier: GPL-3.0-or-later
// Maps a token's value to its background colour: from the plain background to one hue, or for
// signed values to blue (above 0) and red (below 0).
#pragma once

#include <vector>

#include <QColor>
#include <QPointer>
#include <QStringList>
#include <QVector>
#include <QWidget>

#include "gui/plots/custom_plot.h"

namespace midscope {

struct TokenScale {
  double highest = 0;        // the magnitude with full colour; larger ones are clamped
  bool diverging = false;    // whether values are signed
  bool logarithmic = false;  // over three decades below `highest`; ignored if diverging
  QColor hue;
  bool operator==(const TokenScale&) const = default;

  // Strength of the colour: 0 is the background, 1 the full colour; NaN gives 0.
  double StrengthOf(double value) const;
  // Returns an invalid colour for NaN.
  QColor ColorOf(double value, const QColor& background) const;
};

// A scale for several rows: `highest` is their largest magnitude, ignoring the first `skipped`
// tokens; diverging if any value is below 0.
TokenScale ScaleOf(const std::vector<QVector<double>>& rows, int64_t skipped);

// Draws a scale as a bar from the smallest to the largest value.
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

// Ticks for an axis over tokens: positions as integers, or the texts of tokens if few are visible
// and the plot is high enough.

class TokenTicker : public QCPAxisTicker {
 public:
  // Texts are shown if fewer than this number of tokens are visible.
  static constexpr int kMostTexts = 32;

  // Sets such a ticker on the axis; labels are slanted while they are texts.
  static QSharedPointer<TokenTicker> Use(QCPAxis* axis);

  void SetTokens(const QStringList& tokens) { tokens_ = tokens; }

 protected:
  double getTickStep(const QCPRange& range) override;
  int getSubTickCount(double step) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

 private:
  bool ShowsTexts(const QCPRange& range) const;

  QPointer<QCPAxis> axis_;
  QStringList tokens_;
  bool texts_ = false;
};

}  // namespace midscope
