// SPDX-License-Identifier: GPL-3.0-or-later
// The list of all panels that show records, in the order in which they are refreshed, exported and
// rendered. A new panel is one line in panel_list.cpp.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "gui/panels/panel.h"

namespace midscope {

struct PanelEntry {
  QString id;                        // "head-map": in layouts (gui/layout/layouts.h), for scripts
  QString title;                     // of its dock
  QString help;                      // what it shows, by which formula, from which source
  std::vector<std::string> records;  // Panel::Records of it
  Panel* (*make)(const PanelContext& context) = nullptr;
  std::string state_key;                                     // Panel::StateKey of it
  void (*check_state)(const JsonFields& session) = nullptr;  // Panel::CheckState of it
  void (*render)(FilePictures& pictures) = nullptr;          // Panel::Render of it
};

const std::vector<PanelEntry>& PanelList();

// Whether a panel of the list shows records of that name, other than the panel of other records.
bool HasOwnPanel(const std::string& record);

}  // namespace midscope
