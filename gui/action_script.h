// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a list of actions in order (--do). Each starts when all results that the previous one
// requested are on the screen.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>

namespace midscope {

class MainWindow;

class ActionScript : public QObject {
  Q_OBJECT

 public:
  // `lines`: returned by ActionRegistry::SplitScript.
  ActionScript(MainWindow* window, const QStringList& lines);

  void Start();

 Q_SIGNALS:
  // Emitted when all actions have run and their results are on the screen.
  void Finished();
  // Emitted when an action, or a run that it requested, failed; the remaining actions are skipped.
  // `status`: 2 if the action is unknown or does not accept its argument, else 1.
  void Failed(const QString& why, int status);

 private:
  bool AtRest() const;
  void Next();

  MainWindow* window_;
  QStringList lines_;  // not yet run
  QTimer timer_;
  int rested_ = 0;  // consecutive timer events without a pending request
};

}  // namespace midscope
