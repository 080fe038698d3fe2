// SPDX-License-Identifier: GPL-3.0-or-later
// The arrangements of panels that the window offers, one entry each in the list in layouts.cpp.
#pragma once

#include <QKeySequence>
#include <QSize>
#include <QString>
#include <QStringList>
#include <vector>

namespace midscope {

// A part of the window: parts beside or above each other, or tabs.
struct Arrangement {
  enum class Kind { kRow, kColumn, kTabs };
  Kind kind = Kind::kTabs;
  int share = 1;  // of the room that the parts of one row or column have
  std::vector<Arrangement> parts;
  QStringList panels;  // of tabs: ids (PanelEntry::id), the first in front
};

struct LayoutEntry {
  QString id;  // "explore"
  QString title;
  QString help;
  // For a window of that size. A small one has more tabs, so that what is moved by hand and what it
  // changes stay in sight.
  Arrangement (*arrange)(const QSize& window) = nullptr;
};

const std::vector<LayoutEntry>& LayoutList();
// Null where there is none.
const LayoutEntry* FindLayout(const QString& id);

// The ids of all panels that the arrangement names.
QStringList PanelsOf(const Arrangement& arrangement);

}  // namespace midscope
