// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/panel.h"

namespace midscope {

Panel::Panel(const PanelContext& context) : context_(context) {}

void Panel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  DrawWaiting();
}

}  // namespace midscope
