// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/elided_label.h"

#include <QPainter>
#include <QStyle>

namespace midscope {

ElidedLabel::ElidedLabel(QWidget* parent, Qt::TextElideMode mode) : QWidget(parent), mode_(mode) {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ElidedLabel::SetText(const QString& text) {
  if (text == text_) return;
  text_ = text;
  setAccessibleName(text);
  setToolTip(text.isEmpty() ? QString()
                            : QStringLiteral("<p style='white-space:pre-wrap'>") +
                                  text.toHtmlEscaped() + QStringLiteral("</p>"));
  update();
}

QSize ElidedLabel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(text_), fontMetrics().height()};
}

QSize ElidedLabel::minimumSizeHint() const { return {0, fontMetrics().height()}; }

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(palette().color(QPalette::WindowText));
  QString line = text_;
  line.replace(QLatin1Char('\n'), QStringLiteral(" \u23ce "));
  // At the side of the layout, in the direction of the text: "142 tokens" begins with the number.
  const Qt::Alignment side = QStyle::visualAlignment(layoutDirection(), Qt::AlignLeft);
  painter.setLayoutDirection(line.isRightToLeft() ? Qt::RightToLeft : Qt::LeftToRight);
  painter.drawText(contentsRect(), static_cast<int>(side | Qt::AlignAbsolute | Qt::AlignVCenter),
                   fontMetrics().elidedText(line, mode_, contentsRect().width()));
}

}  // namespace midscope
