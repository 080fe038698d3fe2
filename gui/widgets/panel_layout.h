// SPDX-License-Identifier: GPL-3.0-or-later
// The layout of result panels: a view with controls below it.
#pragma once

class QHBoxLayout;
class QLayout;
class QWidget;

namespace midscope {

class FlowLayout;

QHBoxLayout* MakeControlRow();
// For controls that may need more than one row.
FlowLayout* MakeControlFlow();
// `view` takes the available space, `controls` are at the bottom.
void LayOutPanel(QWidget* panel, QWidget* view, QLayout* controls);

}  // namespace midscope
