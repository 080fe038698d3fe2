// SPDX-License-Identifier: GPL-3.0-or-later
// Buttons and progress of a panel that runs a command of the program: start, Cancel and further
// buttons, a bar with the time left, and a note.
#pragma once

#include <QElapsedTimer>
#include <QString>
#include <QWidget>
#include <string>

#include "core/base/job.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace midscope {

class ElidedLabel;
class FlowLayout;

class CommandRow : public QWidget {
  Q_OBJECT

 public:
  // The names of the parts begin with `prefix`: "tuning_start", "tuning_cancel", "tuning_progress",
  // "tuning_left", "tuning_note". `start` and `cancel`: tooltips.
  CommandRow(const QString& prefix, const QString& start, const QString& cancel, QWidget* parent);

  QPushButton* start() const { return start_; }
  // Adds a further control to the buttons.
  void Add(QWidget* widget);
  void SetNote(const QString& note);
  // While the command runs, Cancel is enabled instead of the start button, and the bar is shown.
  void SetRunning(bool running);
  void SetProgress(const Progress& progress);

 Q_SIGNALS:
  void StartRequested();
  void CancelRequested();

 private:
  FlowLayout* buttons_;
  QPushButton* start_;
  QPushButton* cancel_;
  QProgressBar* progress_;
  QLabel* left_;  // how much is done, and the time left
  ElidedLabel* note_;
  bool running_ = false;
  QElapsedTimer clock_;  // of the stage
  std::string stage_;
  int64_t first_ = 0;  // the stage's items that were done before its clock began
};

}  // namespace midscope
