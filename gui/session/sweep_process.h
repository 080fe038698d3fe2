// SPDX-License-Identifier: GPL-3.0-or-later
// Runs `midscope sweep` as a process of its own: what the window runs is the command that it shows,
// and a sweep neither stops the window nor ends with it.
//
//   SweepProcess sweep;
//   connect(&sweep, &SweepProcess::Progressed, ...);
//   sweep.Start({"sweep", "embedded", "--samples", "40", "--out", "run.h5"});
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <optional>

#include "core/base/job.h"

namespace midscope {

class SweepProcess : public QObject {
  Q_OBJECT

 public:
  explicit SweepProcess(QObject* parent = nullptr);
  // Interrupts a sweep that runs; its file keeps the finished samples.
  ~SweepProcess() override;

  // Starts the program with these arguments and those that make it tell its progress. `table`: with
  // tables of what is done so far. No effect while one runs.
  void Start(const QStringList& arguments, bool table = true);
  // As Ctrl-C does: the file keeps what is done, and --resume goes on. No effect where none runs.
  void Stop();
  // Holds the process, so that it takes no processor time, and lets it go on.
  void SetHeld(bool held);
  bool running() const { return process_.state() != QProcess::NotRunning; }
  bool held() const { return held_; }
  // Standard output so far: the tables at the end, or JSON.
  const QString& output() const { return output_; }

  // The command line program beside this one, else the one that PATH finds. "": there is none.
  static QString Program();
  // A line of `--progress json`; nullopt: the line is none.
  static std::optional<Progress> ReadProgress(const QString& line);

 Q_SIGNALS:
  void Progressed(const midscope::Progress& progress);
  // A table of what is done so far, as the command prints it.
  void TableChanged(const QString& table);
  // The process has ended. `failure`: its last message where it failed; "" else. `stopped`: Stop
  // was called.
  void Finished(const QString& failure, bool stopped);

 private:
  void Send(int signal);
  void ReadErrors();
  void ReadLine(const QString& line);
  void OnFinished(int code, QProcess::ExitStatus status);

  QProcess process_;
  QString output_;
  QString table_;
  QString message_;  // the last one that is not progress
  QByteArray rest_;  // of a line that has not ended
  bool held_ = false;
  bool stopped_ = false;
};

}  // namespace midscope
