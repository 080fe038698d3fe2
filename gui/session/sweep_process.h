// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command of the program, such as `midscope sweep`, as a separate process: the window runs
// exactly the command that it shows, and a sweep neither blocks the window nor ends if the window
// crashes.
//
//   SweepProcess sweep;
//   connect(&sweep, &SweepProcess::Progressed, ...);
//   sweep.Start({"sweep", "embedded", "--samples", "40", "--out", "run.h5"});
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "core/base/job.h"
#include "probes/client/engine_link.h"
#include "probes/client/sent_files.h"

namespace midscope {

// A text file that a command reads.
struct InputFile {
  QString path;
  QString text;
};

class SweepProcess : public QObject {
  Q_OBJECT

 public:
  // A sweep of an engine on another machine runs there, and goes on if the connection breaks.
  // Files of this machine in its settings and task are sent there (sent_files.h).
  explicit SweepProcess(std::shared_ptr<EngineLink> link, QObject* parent = nullptr);
  // Interrupts a running sweep; its file keeps the finished samples.
  ~SweepProcess() override;

  // Starts the program with these arguments and those that enable progress output. `table`: also
  // print intermediate tables. `input` is written before; another machine gets it under another
  // name. No effect while a sweep is running. Throws Error if `input` cannot be written.
  void Start(const QStringList& arguments, bool table = true,
             const std::optional<InputFile>& input = {});
  // Interrupts the sweep like Ctrl-C: the file keeps the finished samples, and --resume continues
  // it. No effect if none is running.
  void Stop();
  // If `held`, suspends the process, so that it uses no processor time; else resumes it.
  void SetHeld(bool held);
  bool running() const { return process_.state() != QProcess::NotRunning || there_.joinable(); }
  bool held() const { return held_; }
  // Standard output so far: the final tables, or JSON.
  const QString& output() const { return output_; }

  // Parses a line of `--progress json`; returns nullopt if it is not such a line.
  static std::optional<Progress> ReadProgress(const QString& line);

 Q_SIGNALS:
  void Progressed(const midscope::Progress& progress);
  // Another line of the program than progress and tables, without "midscope: ".
  void Noted(const QString& line);
  // An intermediate table of the finished samples, as the command prints it.
  void TableChanged(const QString& table);
  // The process has ended. `failure`: its last message if it failed, else "". `stopped`: whether
  // Stop was called.
  void Finished(const QString& failure, bool stopped);

 private:
  void StartThere(const QStringList& arguments, const std::optional<InputFile>& input);
  void Send(int signal);
  void ReadErrors();
  void ReadLine(const QString& line);
  void OnFinished(int code, QProcess::ExitStatus status);

  const std::shared_ptr<EngineLink> link_;
  SentFiles sent_;
  QProcess process_;
  std::thread there_;  // waits for a sweep on another machine
  std::atomic<bool> stop_there_{false};
  QString output_;
  QString table_;
  QString message_;  // the last line that is not progress
  QByteArray rest_;  // an incomplete last line
  bool held_ = false;
  bool stopped_ = false;
};

}  // namespace midscope
