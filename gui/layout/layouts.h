// SPDX-License-Identifier: GPL-3.0-or-later
// The modes of the window, each with its arrangement of panels; layouts.cpp lists them.
#pragma once

#include <QLatin1String>
#include <QSize>
#include <QString>
#include <QStringList>
#include <vector>

namespace midscope {

// A part of the window: contains parts side by side or above each other, or tabs.
struct Arrangement {
  enum class Kind { kRow, kColumn, kTabs };
  Kind kind = Kind::kTabs;
  int share = 1;  // weight of its size among the parts of one row or column
  std::vector<Arrangement> parts;
  QStringList panels;  // ids of tabs (PanelEntry::id), the front one first
};

struct LayoutEntry {
  QString id;  // "explore"
  QString title;
  QString help;
  // Makes the arrangement for a window of that size. A small window has more tabs, so that controls
  // and the plots that they change remain visible. Panels that it does not name are hidden.
  Arrangement (*arrange)(const QSize& window) = nullptr;
};

// The mode for the user's own text.
inline constexpr QLatin1String kOwnTextMode("text");

const std::vector<LayoutEntry>& LayoutList();
// Returns nullptr if there is none.
const LayoutEntry* FindLayout(const QString& id);

// Returns the mode's arrangement for a window of that size. In a low window, parts above each other
// are tabs.
Arrangement ArrangementFor(const LayoutEntry& layout, const QSize& window);

// The ids of all panels in the arrangement.
QStringList PanelsOf(const Arrangement& arrangement);

}  // namespace midscope
