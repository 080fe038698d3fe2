// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/panel.h"

#include <nlohmann/json.hpp>

namespace midscope {

Panel::Panel(const PanelContext& context) : context_(context) {}

nlohmann::json Panel::State() const { return nullptr; }

void Panel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  DrawWaiting();
}

}  // namespace midscope
