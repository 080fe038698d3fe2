// SPDX-License-Identifier: MIT
// The window on a planted engine, with what shows where the model looks in the text.
#pragma once

#include "gui/panels/attention/text_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

struct LookingRig : WindowRig<> {
  TextPanel* text_panel = window.panel<TextPanel>();
  TokenText* text = text_panel->text();
  HeadMapPanel* map_panel = window.panel<HeadMapPanel>();
  HeadMapPlot* map = map_panel->plot();
  Selection* selection = window.findChild<Selection*>();

  LookingRig() { Show(); }
  // With this factor of a channel in B.
  bool OpenWithB(double factor) {
    if (!OpenModel()) return false;
    window.history()->Change({{}, Factor(factor)}, false);
    return Settle();
  }
  QPoint Cell(HeadId head) const {
    return QPointF(map->xAxis->coordToPixel(static_cast<double>(head.head)),
                   map->yAxis->coordToPixel(static_cast<double>(head.layer)))
        .toPoint();
  }
  // Gold is tokens 50 to 59 of the first place on the screen, 6.
  static double OnGold(HeadId head, double strength) {
    double sum = 0;
    for (int64_t key = 50; key < 60; ++key) {
      sum += double{FakeEngine::Attention(head.layer, head.head, key, 6, strength)};
    }
    return sum;
  }
};

}  // namespace midscope
