// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/undo_keys.h"

#include <QApplication>
#include <QKeyEvent>
#include <QWidget>
#include <algorithm>
#include <utility>

namespace midscope {

UndoKeys::UndoKeys(std::vector<QWidget*> roots, QObject* parent)
    : QObject(parent), roots_(std::move(roots)) {
  QApplication::instance()->installEventFilter(this);
}

bool UndoKeys::eventFilter(QObject* watched, QEvent* event) {
  const bool pressed = event->type() == QEvent::KeyPress;
  if (!pressed && event->type() != QEvent::ShortcutOverride) return false;
  const auto* widget = qobject_cast<const QWidget*>(watched);
  const auto* key = static_cast<const QKeyEvent*>(event);
  const bool undo = key->matches(QKeySequence::Undo);
  if (!widget || (!undo && !key->matches(QKeySequence::Redo))) return false;
  const bool inside = std::any_of(roots_.begin(), roots_.end(), [widget](const QWidget* root) {
    return root == widget || root->isAncestorOf(widget);
  });
  if (!inside) return false;
  event->accept();  // not a shortcut of the window: it would come twice
  if (pressed && undo) Q_EMIT UndoRequested();
  if (pressed && !undo) Q_EMIT RedoRequested();
  return true;
}

}  // namespace midscope
