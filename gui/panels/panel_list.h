// SPDX-License-Identifier: GPL-3.0-or-later
// The list of all panels that show records, in the order in which they are refreshed, exported and
// rendered. A new panel needs one line in panel_list.cpp.
#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <vector>

#include "gui/panels/file_pictures.h"
#include "gui/panels/panel.h"

namespace midscope {

struct PanelEntry {
  // "head-map": used in layouts (gui/layout/layouts.h) and scripts.
  QString id;
  QString title;                     // title of its dock
  QString help;                      // what it shows, with formula and source
  std::vector<std::string> records;  // the panel's Records()
  Panel* (*make)(const PanelContext& context) = nullptr;
  std::string state_key;                                     // the panel's StateKey()
  void (*check_state)(const JsonFields& session) = nullptr;  // the panel's CheckState()
  void (*render)(FilePictures& pictures) = nullptr;          // the panel's Render()
};

const std::vector<PanelEntry>& PanelList();

// Whether a panel of the list, other than the panel of other records, shows records of that name.
bool HasOwnPanel(const std::string& record);

// Draws the window's pictures of a results file, without a display.

// Draws every picture for which the file has records, panel by panel. Returns the paths of the
// written files, in order. Throws Error if the file cannot be read or contains nothing to draw.
QStringList RenderFile(const RenderRequest& request);

}  // namespace midscope
