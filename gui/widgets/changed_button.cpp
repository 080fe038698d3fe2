// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/changed_button.h"

#include <QPalette>
#include <QPushButton>

#include "gui/base/appearance.h"

namespace midscope {

void MarkChanged(QPushButton* button, bool changed) {
  QFont font = button->font();
  font.setBold(changed);
  button->setFont(font);
  QPalette colors;
  if (changed) {
    colors.setColor(QPalette::Button, ChangedColor());
    colors.setColor(QPalette::ButtonText, Qt::white);
  }
  button->setPalette(colors);
}

}  // namespace midscope
