// SPDX-License-Identifier: GPL-3.0-or-later
// How the panels of results are laid out: a view with controls below it.
#pragma once

class QHBoxLayout;
class QLayout;
class QWidget;

namespace midscope {

class FlowLayout;

QHBoxLayout* MakeControlRow();
// For controls that may need more than one row.
FlowLayout* MakeControlFlow();
// `view` gets the panel's room, `controls` stand at the bottom.
void LayOutPanel(QWidget* panel, QWidget* view, QLayout* controls);

}  // namespace midscope
