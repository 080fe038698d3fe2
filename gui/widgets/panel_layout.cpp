// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/panel_layout.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <QWidget>

#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

template <typename Layout>
Layout* MakeControls() {
  auto* layout = new Layout;
  layout->setContentsMargins(8, 3, 8, 3);
  layout->setSpacing(7);
  return layout;
}

}  // namespace

QHBoxLayout* MakeControlRow() { return MakeControls<QHBoxLayout>(); }

FlowLayout* MakeControlFlow() { return MakeControls<FlowLayout>(); }

void LayOutPanel(QWidget* panel, QWidget* view, QLayout* controls) {
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(view, 1);
  column->addLayout(controls);
}

}  // namespace midscope
