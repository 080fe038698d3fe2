// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a list of actions one after another (--do), each once all numbers that the previous one
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
  // `lines`: of ActionRegistry::SplitScript.
  ActionScript(MainWindow* window, const QStringList& lines);

  void Start();

 Q_SIGNALS:
  // All actions were run and their numbers are there.
  void Finished();
  // An action, or a run that it requested, failed; the rest is skipped. `status`: 2 for an action
  // that is unknown or that does not take its argument, else 1.
  void Failed(const QString& why, int status);

 private:
  bool AtRest() const;
  void Next();

  MainWindow* window_;
  QStringList lines_;  // that have not run
  QTimer timer_;
  int rested_ = 0;  // turns of the timer without a request
};

}  // namespace midscope
