// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that the user can do in the window, each under an id that stays the same between
// versions. Menus, the command palette, the page of shortcuts and scripts (--do) walk this list.
//
//   registry.Add({.id = "head", .menu = "", .title = tr("Choose a head"),
//                 .help = tr("The head whose attention is shown"),
//                 .argument = Parameter{.name = "head", .kind = ParameterKind::kHeads},
//                 .run = [this](const QString& text) { selection_->Choose(ReadHeadId(text)); }});
//   registry.Do("head L12H3");
#pragma once

#include <QKeySequence>
#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/parameter.h"

class QAction;
class QMenu;
class QWidget;

namespace midscope {

struct ActionEntry {
  QString id;    // lower case, words joined by hyphens: "save-session"
  QString menu;  // the id of its menu ("file"); "": the action is in no menu
  QString title;
  QString help;  // one sentence
  QKeySequence shortcut = {};
  // None: the action takes no argument. Where it is not required, the action runs without one too
  // and is given an empty text.
  std::optional<Parameter> argument = {};
  // Values that can be chosen now, for an action with an argument; none: the argument's choices.
  std::function<QStringList()> offers = {};
  // Throws Error where it can't be done. Without `run` the action is the menu's alone.
  std::function<void(const QString& argument)> run = {};
};

class ActionRegistry : public QObject {
  Q_OBJECT

 public:
  // Shortcuts work while `window` is active.
  explicit ActionRegistry(QWidget* window);

  // Throws Error (a bug) where the id is taken. Returns the action, which menus show; for an
  // action that requires an argument it opens the palette (ArgumentRequested).
  QAction* Add(ActionEntry entry);
  // Registers an action that something else owns and runs, such as undo or one of a panel.
  void Adopt(const QString& id, const QString& menu, QAction* action, const QString& help);

  struct Item {
    ActionEntry entry;
    QAction* action = nullptr;
  };
  const std::vector<Item>& items() const { return items_; }
  // Null where there is none.
  const Item* Find(const QString& id) const;

  // Runs a line such as "head L12H3". Throws Error (usage) for an unknown id, a missing argument or
  // one that the action does not take, and what the action throws.
  void Do(const QString& line);
  // Splits "head L12H3; channel 100" into lines; empty ones are left out.
  static QStringList SplitScript(const QString& script);

  // Adds the actions of the menu in the order in which they were registered.
  void FillMenu(const QString& menu, QMenu* into) const;

 Q_SIGNALS:
  // A menu's entry was chosen whose argument is missing: "head".
  void ArgumentRequested(const QString& id);
  // An action that was chosen in a menu or by its shortcut failed.
  void Failed(const QString& why);
  // An action was run; `line` runs it again.
  void Done(const QString& line);

 private:
  void Run(const ActionEntry& entry, const QString& argument);
  void Trigger(const QString& id);

  QWidget* window_;
  std::vector<Item> items_;
};

}  // namespace midscope
