// SPDX-License-Identifier: MIT
// The window on a planted engine, with what shows where the model looks in the text.
#pragma once

#include "gui/panels/text_panel.h"
#include "gui/plots/token_text.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

struct LookingRig : WindowRig<> {
  TextPanel* text_panel = window.panel<TextPanel>();
  TokenText* text = text_panel->text();
  Selection* selection = window.findChild<Selection*>();

  LookingRig() { Show(); }
  // With this factor of a channel in B.
  bool OpenWithB(double factor) {
    if (!OpenModel()) return false;
    window.history()->Change({{}, Factor(factor)}, false);
    return Settle();
  }
};

}  // namespace midscope
