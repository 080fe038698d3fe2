// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks of an axis over tokens: whole positions; where few tokens are shown, their texts.
#pragma once

#include "gui/plots/custom_plot.h"

#include <QStringList>

namespace midscope {

class TokenTicker : public QCPAxisTicker {
 public:
  // Of fewer tokens than this the texts are shown.
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
