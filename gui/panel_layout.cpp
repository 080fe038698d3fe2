// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panel_layout.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <QWidget>

namespace midscope {

QHBoxLayout* MakeControlRow() {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 3, 8, 3);
  row->setSpacing(7);
  return row;
}

void LayOutPanel(QWidget* panel, QWidget* view, QHBoxLayout* controls) {
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(view, 1);
  column->addLayout(controls);
}

}  // namespace midscope
