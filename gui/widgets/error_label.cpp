// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/error_label.h"

#include <QLabel>

namespace midscope {

QString ErrorStyle() { return QStringLiteral("color: #d04040"); }

QLabel* MakeErrorLabel(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setStyleSheet(ErrorStyle());
  label->hide();
  return label;
}

void ShowError(QLabel* label, const QString& text) {
  label->setText(text);
  label->setVisible(!text.isEmpty());
}

}  // namespace midscope
