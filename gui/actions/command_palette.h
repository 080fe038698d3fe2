// SPDX-License-Identifier: GPL-3.0-or-later
// The command palette (Ctrl+K): the user types a few letters, and it lists the matching actions
// with their shortcuts, most recently run first. Enter runs the selected one, Esc closes the
// palette.
#pragma once

#include <QFrame>
#include <QKeySequence>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <vector>

#include "gui/actions/action_registry.h"

class QLabel;
class QLineEdit;
class QListWidget;

namespace midscope {

// Computes the items that the command palette lists for a typed text.

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

class CommandPalette : public QFrame {
  Q_OBJECT

 public:
  // Hidden until Open. `parent`: the window that it covers.
  CommandPalette(ActionRegistry* registry, QWidget* parent);

  // Shows the palette with `text` in its line, such as "head ", and gives it the focus.
  void Open(const QString& text = QString());
  const std::vector<PaletteItem>& listed() const { return listed_; }
  QLineEdit* line() const { return line_; }
  QStringList recent() const { return recent_; }
  void SetRecent(const QStringList& recent) { recent_ = recent; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void List();
  void RunChosen();
  void Close();
  void NoteRecent(const QString& line);

  ActionRegistry* registry_;
  QLineEdit* line_;
  QListWidget* list_;
  QLabel* help_;
  std::vector<PaletteItem> listed_;
  QStringList recent_;              // newest first
  QPointer<QWidget> focus_before_;  // the widget that gets the focus when the palette closes
};

}  // namespace midscope
