// SPDX-License-Identifier: GPL-3.0-or-later
// Items that the command palette lists for a typed text.
#pragma once

#include <QKeySequence>
#include <QString>
#include <QStringList>
#include <vector>

#include "gui/actions/action_registry.h"

namespace midscope {

struct PaletteItem {
  QString line;      // what ActionRegistry::Do runs; ends in a space where an argument is missing
  QString title;     // "Choose a head: L12H3"
  QString help;      // of the action
  QString shortcut;  // as text; "" for none
  bool complete = true;  // false: an argument has to be typed first
  bool operator==(const PaletteItem&) const = default;
};

// The items that match, best first: a text that starts with an action's id and an argument is that
// action; a text that an action's argument describes exactly (L12H3) is that too; then titles and
// offered values in which the letters occur in their order, whole words and beginnings of words
// first. An empty text: all actions, the `recent` lines first. Disabled actions are left out.
std::vector<PaletteItem> PaletteItems(const ActionRegistry& registry, const QString& text,
                                      const QStringList& recent);

// How well `text` fits `title`: larger is better; negative: its letters do not occur in order.
int MatchScore(const QString& text, const QString& title);

}  // namespace midscope
