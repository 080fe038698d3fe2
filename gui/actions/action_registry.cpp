// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/actions/action_registry.h"

#include <QAction>
#include <QMenu>
#include <QWidget>
#include <algorithm>

#include "core/base/text.h"
#include "gui/base/display_text.h"
#include "gui/widgets/flow_layout.h"
#include "kernels/check.h"

namespace midscope {

ActionRegistry::ActionRegistry(QWidget* window) : QObject(window), window_(window) {}

const ActionRegistry::Item* ActionRegistry::Find(const QString& id) const {
  const auto found = std::find_if(items_.begin(), items_.end(),
                                  [&id](const Item& item) { return item.entry.id == id; });
  return found == items_.end() ? nullptr : &*found;
}

QAction* ActionRegistry::Add(const QString& id, const QString& menu, const QString& title,
                             const QString& help, const ActionInput& input, const Run& run) {
  MIDSCOPE_CHECK(!Find(id), "two actions are named " + id.toStdString());
  auto* action = Named(new QAction(title, this), id, help);
  action->setShortcut(input.shortcut);
  window_->addAction(action);
  connect(action, &QAction::triggered, this, [this, id] { Trigger(id); });
  items_.push_back({{input, id, menu, title, help, run}, action});
  return action;
}

void ActionRegistry::Adopt(const QString& id, const QString& menu, QAction* action,
                           const QString& help) {
  MIDSCOPE_CHECK(!Find(id), "two actions are named " + id.toStdString());
  items_.push_back({{{.shortcut = action->shortcut()},
                     id,
                     menu,
                     action->text(),
                     help,
                     [action](const QString&) { action->trigger(); }},
                    action});
}

void ActionRegistry::Trigger(const QString& id) {
  const ActionEntry entry = Find(id)->entry;
  if (entry.argument && entry.argument->required) {
    Q_EMIT ArgumentRequested(id);
    return;
  }
  const QString why = ErrorText([this, &entry] { RunEntry(entry, QString()); });
  if (!why.isEmpty()) Q_EMIT Failed(why);
}

void ActionRegistry::RunEntry(const ActionEntry& entry, const QString& argument) {
  entry.run(argument);
  Q_EMIT Done(argument.isEmpty() ? entry.id : entry.id + QLatin1Char(' ') + argument);
}

void ActionRegistry::Do(const QString& line) {
  const QString text = line.trimmed();
  const QString id = text.section(QLatin1Char(' '), 0, 0);
  const QString argument = text.mid(id.size()).trimmed();
  const Item* item = Find(id);
  if (!item) {
    std::vector<std::string> known;
    for (const Item& each : items_) known.push_back(each.entry.id.toStdString());
    throw UsageError("action '" + id.toStdString() + "'", "there is none of that name",
                     KnownWordsHint(id.toStdString(), known));
  }
  const ActionEntry entry = item->entry;  // a copy, because running it may register other actions
  const std::string thing = "action '" + id.toStdString() + "'";
  if (!entry.argument && !argument.isEmpty()) {
    throw UsageError(thing, "it takes no argument", "Leave '" + argument.toStdString() + "' out");
  }
  if (entry.argument && argument.isEmpty() && entry.argument->required) {
    throw UsageError(thing, "its argument is missing: " + entry.argument->help);
  }
  if (entry.argument && !argument.isEmpty()) {
    ReadValue(*entry.argument, argument.toStdString(), thing);
  }
  if (!item->action->isEnabled()) throw UsageError(thing, "it cannot be done now");
  RunEntry(entry, argument);
}

QStringList ActionRegistry::SplitScript(const QString& script) {
  QStringList lines;
  for (const QString& part : script.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
    if (!part.trimmed().isEmpty()) lines << part.trimmed();
  }
  return lines;
}

void ActionRegistry::FillMenu(const QString& menu, QMenu* into) const {
  for (const Item& item : items_) {
    if (item.entry.menu == menu) into->addAction(item.action);
  }
}

}  // namespace midscope
