// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the prompt as text with the gold passage underlined. Each token is on a colour for its
// attention (Viridis, logarithmic over three decades below the largest), or for a signed value
// (blue above 0, red below, linear up to the largest magnitude).
#pragma once

#include <QTextEdit>
#include <QVector>

#include "core/base/record.h"
#include "core/base/spans.h"

class QCPColorGradient;

namespace midscope {

class TokenView : public QTextEdit {
  Q_OBJECT

 public:
  explicit TokenView(QWidget* parent = nullptr);

  void SetPrompt(const Record* prompt);
  // Selects colours for signed values; `name` is the name of the values in tooltips.
  void ShowSigned(const QString& name);
  // One value per token.
  void SetRow(const QVector<double>& row);
  // Sets the setting of the values, for the tooltip.
  void SetSource(const QString& source) { source_ = source; }
  // Offset of each token's first character in the shown text, then the end of the last token.
  const QVector<int>& begins() const { return begins_; }
  void SetMarkedKey(int64_t key);
  int64_t TokenAt(const QPoint& position) const;
  QString TooltipFor(int64_t token) const;

 Q_SIGNALS:
  void KeyHovered(qint64 key);

 protected:
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void Colour();
  // The colour of a value, where `highest` is the largest magnitude; invalid for NaN.
  QColor ColourOf(QCPColorGradient& gradient, double value, double highest) const;

  bool signed_ = false;
  QString value_name_;
  QVector<int> begins_;
  QStringList tokens_;
  QString source_;
  QVector<double> row_;
  TokenSpan gold_;
  int64_t marked_ = -1;
};

}  // namespace midscope
