// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of all user actions of the window. Each has an id that does not change between
// versions. Menus, the command palette, the shortcuts page and scripts (--do) iterate over it.
//
//   registry.Add("head", "", tr("Choose a head"), tr("The head whose attention is shown"),
//                {.argument = Parameter{.name = "head", .kind = ParameterKind::kHeads}},
//                [this](const QString& text) { selection_->Choose(ReadHeadId(text)); });
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

// The parts of an action that only some have.
struct ActionInput {
  QKeySequence shortcut = {};
  // nullopt: the action takes no argument. An optional argument that is omitted is passed as an
  // empty text.
  std::optional<Parameter> argument = {};
  // Returns the currently valid values of the argument; null: the argument's choices.
  std::function<QStringList()> offers = {};
};

struct ActionEntry : ActionInput {
  QString id;    // lower case, words joined by hyphens: "save-session"
  QString menu;  // the id of its menu ("file"); "": the action is in no menu
  QString title;
  QString help;  // one sentence
  // Throws Error if the action fails.
  std::function<void(const QString& argument)> run;
};

class ActionRegistry : public QObject {
  Q_OBJECT

 public:
  // Shortcuts work while `window` is active.
  explicit ActionRegistry(QWidget* window);

  // Throws Error (a bug) if the id is already registered. Returns the action for use in menus; if
  // an argument is required, triggering it opens the palette (ArgumentRequested).
  using Run = std::function<void(const QString& argument)>;
  QAction* Add(const QString& id, const QString& menu, const QString& title, const QString& help,
               const ActionInput& input, const Run& run);
  QAction* Add(const QString& id, const QString& menu, const QString& title, const QString& help,
               const Run& run) {
    return Add(id, menu, title, help, {}, run);
  }
  // Registers an action that another object owns and runs, such as undo or an action of a panel.
  void Adopt(const QString& id, const QString& menu, QAction* action, const QString& help);

  struct Item {
    ActionEntry entry;
    QAction* action = nullptr;
  };
  const std::vector<Item>& items() const { return items_; }
  // Returns nullptr if there is none.
  const Item* Find(const QString& id) const;

  // Runs a line such as "head L12H3". Throws Error (usage) for an unknown id or a missing or
  // invalid argument, and passes on the errors of the action.
  void Do(const QString& line);
  // Splits a script such as "head L12H3; channel 100" into lines, omitting empty ones.
  static QStringList SplitScript(const QString& script);

  // Adds the actions of the menu in the order of their registration.
  void FillMenu(const QString& menu, QMenu* into) const;

 Q_SIGNALS:
  // Emitted when an action with a missing argument was chosen in a menu; `id`: such as "head".
  void ArgumentRequested(const QString& id);
  // Emitted when an action failed that was chosen in a menu or by its shortcut.
  void Failed(const QString& why);
  // Emitted after an action has run; running `line` repeats it.
  void Done(const QString& line);

 private:
  void RunEntry(const ActionEntry& entry, const QString& argument);
  void Trigger(const QString& id);

  QWidget* window_;
  std::vector<Item> items_;
};

}  // namespace midscope
