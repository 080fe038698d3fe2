// SPDX-License-Identifier: MIT
// The panel of settings with a history behind it, as in the window.
#pragma once

#include <QObject>

#include "core/intervention/intervention_text.h"
#include "gui/panels/settings_panel.h"
#include "gui/session/setting_history.h"

namespace midscope {

struct SettingsRig {
  SettingsPanel panel;
  SettingHistory history;

  SettingsRig() {
    panel.SetModel(30, 576);
    QObject::connect(&panel, &SettingsPanel::Changed, &history, &SettingHistory::Change);
    QObject::connect(&history, &SettingHistory::Applied, &panel,
                     [this](const SettingPair& pair) { panel.Show(pair); });
    panel.Show(history.current());
  }
  std::string TextB() const { return PrintIntervention(history.current().b); }
};

}  // namespace midscope
