// SPDX-License-Identifier: GPL-3.0-or-later
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "gui/plots/plot_style.h"
#include "gui/plots/tokens/token_text.h"

namespace midscope {

TokenStrip::TokenStrip(TokenText* text) : QWidget(text), text_(text) {
  setToolTip(
      tr("The whole text: its strongest tokens, the gold and the part that is seen. Click or "
         "drag to go there"));
  setCursor(Qt::PointingHandCursor);
}

void TokenStrip::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  const int lines = text_->lines();
  if (lines == 0) return;
  const auto y_of = [&](double line) { return line * height() / lines; };
  const auto row = [&](int line, double count) {
    return QRectF(4, y_of(line), width() - 6, std::max(y_of(count), 1.0));
  };
  for (int line = 0; line < lines; ++line) {
    const int token = text_->strongest().value(line, -1);
    const QColor color = token < 0 ? QColor() : text_->ColorOf(token);
    if (color.isValid()) painter.fillRect(row(line, 1), color);
  }
  const TokenSpan& gold = text_->prompt().gold;
  if (!gold.empty()) {
    const int first = text_->LineOf(gold.begin);
    const int last = text_->LineOf(gold.end - 1);
    painter.fillRect(QRectF(0, y_of(first), 4, std::max(y_of(last - first + 1), 3.0)), GoldColor());
  }
  painter.setPen(QPen(palette().color(QPalette::Text), 1));
  const int seen = std::min(text_->seen_lines(), lines);
  painter.drawRect(
      QRectF(0.5, y_of(text_->first_line()) + 0.5, width() - 1.5, std::max(y_of(seen) - 1, 4.0)));
}

void TokenStrip::GoTo(double y) {
  text_->ScrollToLine(static_cast<int>(y * text_->lines() / std::max(height(), 1)) -
                      text_->seen_lines() / 2);
}

void TokenStrip::mousePressEvent(QMouseEvent* event) { GoTo(event->position().y()); }

void TokenStrip::mouseMoveEvent(QMouseEvent* event) { GoTo(event->position().y()); }

}  // namespace midscope
