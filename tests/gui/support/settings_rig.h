// SPDX-License-Identifier: MIT
// The settings panel connected to a history, as in the window.
#pragma once

#include <QObject>

#include "core/model/model_config.h"
#include "core/terms/intervention_text.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/session/setting_history.h"

namespace midscope {

struct SettingsRig {
  SettingsPanel panel;
  SettingHistory history;

  // The configuration of the embedded model.
  static ModelConfig Model() {
    ModelConfig config;
    config.layers = 30;
    config.heads = 9;
    config.key_value_heads = 3;
    config.head_dim = 64;
    config.rope_dimensions = 64;
    config.hidden = 576;
    config.trained_context = 8192;
    config.name = "Smollm2 135M 8k Lc100K Mix1 Ep2";
    return config;
  }

  SettingsRig() {
    panel.SetModel(Model());
    QObject::connect(&panel, &SettingsPanel::Changed, &history, &SettingHistory::Change);
    QObject::connect(&history, &SettingHistory::Applied, &panel,
                     [this](const SettingPair& pair) { panel.Show(pair); });
    panel.Show(history.current());
  }
  std::string TextB() const { return PrintIntervention(history.current().b); }
};

}  // namespace midscope
