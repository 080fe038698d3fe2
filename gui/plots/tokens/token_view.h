// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt as text, each token on the colour of its attention (Viridis, logarithmic over three
// decades below the largest), or of a signed value (blue above 0, red below, linear to the largest
// magnitude), the gold passage underlined.
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
  // Values may be negative; `name` is theirs in tooltips.
  void ShowSigned(const QString& name);
  // One value per token.
  void SetRow(const QVector<double>& row);
  // The setting of the values, for the tooltip.
  void SetSource(const QString& source) { source_ = source; }
  // First character of each token in the shown text, then the end of the last.
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
  // The colour of a value, the largest magnitude being `highest`; invalid for none.
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
