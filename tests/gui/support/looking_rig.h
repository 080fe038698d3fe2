// SPDX-License-Identifier: MIT
// The window on a planted engine, with access to the views that show attention on the text.
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
  // Opens the window; B scales a channel by `factor`.
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
  // Sum of attention over the gold, tokens 50 to 59 of place 6, the first place on the screen.
  static double OnGold(HeadId head, double strength) {
    double sum = 0;
    for (int64_t key = 50; key < 60; ++key) {
      sum += double{FakeEngine::Attention(head.layer, head.head, key, 6, strength)};
    }
    return sum;
  }
};

}  // namespace midscope
