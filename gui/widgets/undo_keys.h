// SPDX-License-Identifier: GPL-3.0-or-later
// Gives the keys of undo and redo to the window where text fields would take them for an undo of
// their own.
#pragma once

#include <QObject>
#include <vector>

class QWidget;

namespace midscope {

class UndoKeys : public QObject {
  Q_OBJECT

 public:
  // For all text fields in these widgets, which outlive it, whenever they are made.
  explicit UndoKeys(std::vector<QWidget*> roots, QObject* parent = nullptr);
  bool eventFilter(QObject* watched, QEvent* event) override;

 Q_SIGNALS:
  void UndoRequested();
  void RedoRequested();

 private:
  std::vector<QWidget*> roots_;
};

}  // namespace midscope
