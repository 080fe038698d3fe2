// SPDX-License-Identifier: GPL-3.0-or-later
// Runs commands of the program for a panel: the process, buttons that start and cancel it and
// further ones, a bar with the time left, and a note.
#pragma once

#include <QElapsedTimer>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "gui/session/sweep_process.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace midscope {

class ElidedLabel;
class FlowLayout;

// Shows the progress of the running request: stage, bar, rate, time left and a cancel button.

class ProgressRow : public QWidget {
  Q_OBJECT

 public:
  explicit ProgressRow(QWidget* parent = nullptr);

  // `what` describes the request; "" if nothing is running.
  void SetBusy(const QString& what);
  void SetProgress(const Progress& progress);

  // Returns text such as "12 / 100 samples · 3.2 per s · 28 s left". The first `before` items were
  // done before the `seconds` began; the rate is omitted until another one is done.
  static QString RateText(const Progress& progress, int64_t before, double seconds);

 Q_SIGNALS:
  void CancelRequested();

 private:
  QLabel* what_;
  QProgressBar* bar_;
  QLabel* rate_;
  QPushButton* cancel_;
  std::vector<QWidget*> parts_;  // the four above
  QElapsedTimer stage_clock_;
  std::string stage_;
  int64_t stage_first_ = 0;
};

class CommandRow : public QWidget {
  Q_OBJECT

 public:
  // The names of the parts begin with `prefix`: "tuning_start", "tuning_cancel", "tuning_progress",
  // "tuning_left", "tuning_note". `start` and `cancel`: tooltips. The commands run where the engine
  // of `link` does.
  CommandRow(const QString& prefix, const QString& start, const QString& cancel,
             std::shared_ptr<EngineLink> link, QWidget* parent);

  QPushButton* start() const { return start_; }
  QPushButton* cancel() const { return cancel_; }
  SweepProcess* process() const { return process_; }
  // Adds a further control to the buttons.
  void Add(QWidget* widget);
  QPushButton* AddButton(const QString& text, const QString& name, const QString& tooltip);
  void SetNote(const QString& note);
  // Runs `work`. If it throws an Error, its message becomes the note.
  void Try(const std::function<void()>& work);
  // Starts the command; `note`: default: the command itself. While it runs, Cancel is enabled
  // instead of the start button, and the bar is shown. Throws Error if `input` cannot be written.
  void Run(const QStringList& arguments, const std::optional<InputFile>& input = {},
           bool table = false, const QString& note = {});

 Q_SIGNALS:
  void StartRequested();
  // Emitted when the process has ended. The note shows why it failed, or "Cancelled".
  void Finished(const QString& failure, bool stopped);

 private:
  void SetRunning(bool running);
  void ShowProgress(const Progress& progress);

  FlowLayout* buttons_;
  QPushButton* start_;
  QPushButton* cancel_;
  QProgressBar* progress_;
  QLabel* left_;  // how much is done, and the time left
  ElidedLabel* note_;
  SweepProcess* process_;
  QElapsedTimer clock_;  // of the stage
  std::string stage_;
  int64_t first_ = 0;  // the stage's items that were done before its clock began
};

}  // namespace midscope
