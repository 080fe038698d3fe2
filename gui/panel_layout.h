// SPDX-License-Identifier: GPL-3.0-or-later
// How the panels of results are laid out: a view with a row of controls below it.
#pragma once

class QHBoxLayout;
class QWidget;

namespace midscope {

QHBoxLayout* MakeControlRow();
// `view` gets the panel's room, `controls` stand at the bottom.
void LayOutPanel(QWidget* panel, QWidget* view, QHBoxLayout* controls);

}  // namespace midscope
