// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the items that the command palette lists for a typed text.
#pragma once

#include <QKeySequence>
#include <QString>
#include <QStringList>
#include <vector>

#include "gui/actions/action_registry.h"

namespace midscope {

struct PaletteItem {
  QString line;      // argument for ActionRegistry::Do; ends with a space if an argument is missing
  QString title;     // "Choose a head: L12H3"
  QString help;      // of the action
  QString shortcut;  // as text; "" if there is none
  bool complete = true;  // false: an argument must be typed first
  bool operator==(const PaletteItem&) const = default;
};

// The matching items, best first. An action's id followed by an argument matches that action, and
// so does a text that is a valid value of an action's argument (L12H3). Then come titles and
// offered values that contain the typed letters in order; matches of whole words and of beginnings
// of words come first. An empty text lists all actions, `recent` lines first. Disabled actions are
// omitted.
std::vector<PaletteItem> PaletteItems(const ActionRegistry& registry, const QString& text,
                                      const QStringList& recent);

// Score of `text` as a match for `title`; larger is better, negative if the title does not contain
// its letters in order.
int MatchScore(const QString& text, const QString& title);

}  // namespace midscope
