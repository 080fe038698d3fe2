// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/tokens/token_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/base/prompt_text.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/tokens/token_text.h"

namespace midscope {

namespace {

constexpr double kDecades = 3;

}  // namespace

TokenView::TokenView(QWidget* parent) : QTextEdit(parent) {
  setReadOnly(true);
  setAcceptRichText(false);
  setMouseTracking(true);
  viewport()->setMouseTracking(true);
  setPlaceholderText(tr("The prompt's tokens appear here"));
  value_name_ = tr("attention");
}

void TokenView::ShowSigned(const QString& name) {
  signed_ = true;
  value_name_ = name;
}

void TokenView::SetPrompt(const Record* prompt) {
  const PromptText read = ReadPromptText(prompt);
  tokens_ = read.tokens;
  begins_ = read.begins;
  gold_ = read.gold;
  setPlainText(read.text);
  row_.clear();
  Colour();
}

void TokenView::SetRow(const QVector<double>& row) {
  row_ = row;
  if (isVisible()) Colour();
}

void TokenView::SetMarkedKey(int64_t key) {
  if (marked_ == key) return;
  marked_ = key;
  if (isVisible()) Colour();
}

void TokenView::Colour() {
  QList<ExtraSelection> selections;
  QCPColorGradient gradient = signed_ ? DifferenceGradient() : ViridisGradient();
  double highest = 0;
  for (const double value : row_) {
    const double size = signed_ ? std::abs(value) : value;
    highest = std::max(highest, std::isnan(size) ? 0.0 : size);
  }
  const int length = std::max(document()->characterCount() - 1, 0);
  for (qsizetype token = 0; token + 1 < begins_.size(); ++token) {
    ExtraSelection selection;
    selection.cursor = QTextCursor(document());
    selection.cursor.setPosition(std::min(begins_[token], length));
    selection.cursor.setPosition(std::min(begins_[token + 1], length), QTextCursor::KeepAnchor);
    const QColor color = ColourOf(gradient, row_.value(token, std::nan("")), highest);
    if (color.isValid()) {
      selection.format.setBackground(color);
      selection.format.setForeground(color.lightnessF() > 0.45 ? Qt::black : Qt::white);
    }
    if (token >= gold_.begin && token < gold_.end) {
      selection.format.setFontUnderline(true);
      selection.format.setUnderlineStyle(QTextCharFormat::SingleUnderline);
      selection.format.setUnderlineColor(GoldColor());
      selection.format.setFontWeight(QFont::Bold);
    }
    if (token == marked_) selection.format.setFontOverline(true);
    selections.append(selection);
  }
  setExtraSelections(selections);
}

QColor TokenView::ColourOf(QCPColorGradient& gradient, double value, double highest) const {
  if (std::isnan(value)) return {};
  if (signed_) {
    if (highest <= 0) return {};
    return gradient.color(value, QCPRange(-highest, highest));
  }
  const bool above = value > 0 && highest > 0;
  const double height =
      above ? std::clamp(1 + std::log10(value / highest) / kDecades, 0.0, 1.0) : 0.0;
  return gradient.color(height, QCPRange(0, 1));
}

int64_t TokenView::TokenAt(const QPoint& position) const {
  const int character = cursorForPosition(position).position();
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), character);
  const auto token = static_cast<int64_t>(after - begins_.begin()) - 1;
  return token >= 0 && token < tokens_.size() ? token : -1;
}

QString TokenView::TooltipFor(int64_t token) const {
  if (token < 0 || token >= tokens_.size()) return {};
  QString tip = QStringLiteral("%1 (%2)").arg(ShownToken(tokens_[token])).arg(token);
  if (token < row_.size())
    tip += QStringLiteral("\n%1 %2").arg(value_name_).arg(row_[token], 0, 'g', 4);
  if (!source_.isEmpty()) tip += QLatin1Char('\n') + source_;
  if (token >= gold_.begin && token < gold_.end) tip += tr("\nin the gold passage");
  return tip;
}

void TokenView::mouseMoveEvent(QMouseEvent* event) {
  QTextEdit::mouseMoveEvent(event);
  const int64_t token = TokenAt(event->position().toPoint());
  QToolTip::showText(event->globalPosition().toPoint(), TooltipFor(token), this);
  Q_EMIT KeyHovered(token);
}

void TokenView::leaveEvent(QEvent* event) {
  QTextEdit::leaveEvent(event);
  Q_EMIT KeyHovered(-1);
}

void TokenView::showEvent(QShowEvent* event) {
  QTextEdit::showEvent(event);
  Colour();
}

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
