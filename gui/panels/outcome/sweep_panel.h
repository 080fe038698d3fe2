// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a sweep of the shown request: the prompt's task over samples and places, under A, B and
// further settings; own text at its places. The cost is shown first. The sweep is a separate
// process `midscope sweep`, whose command can be copied for use on a cluster. The process is
// suspended while a slider is dragged.
#pragma once

#include <QTimer>

#include "gui/panels/panel.h"

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;

namespace midscope {

class ParameterForm;
class SweepProcess;
struct Progress;

class SweepPanel : public Panel {
  Q_OBJECT

 public:
  explicit SweepPanel(const PanelContext& context);

  void Refresh(Changes changes) override;

  ParameterForm* form() const { return form_; }
  SweepProcess* sweep() const { return sweep_; }
  QString table() const;
  // Arguments of the command. Throws Error (usage) if no prompt of an open model is shown, or if a
  // field cannot be read.
  QStringList Arguments() const;

 Q_SIGNALS:
  // Emitted when the user has chosen to open the results in the window.
  void ResultsOffered(const QString& path);

 private:
  QWidget* MakeButtons();
  void Start();
  void AskCost();
  void OnProgress(const Progress& progress);
  void OnFinished(const QString& failure, bool stopped);
  void OnRelease();
  void ShowButtons();
  void ShowCost();
  QString OutFile() const;
  // Path of the file with own text, in the folder of the results.
  QString TextFile() const;
  void WriteOwnText() const;

  ParameterForm* form_;
  SweepProcess* sweep_;
  QPushButton* cost_;
  QPushButton* start_;
  QPushButton* stop_;
  QPushButton* open_;
  QProgressBar* progress_;
  QLabel* note_;
  QPlainTextEdit* table_;
  QTimer release_;           // running while the sweep is suspended; resumes it
  bool is_dry_run_ = false;  // whether the process is a dry run
};

}  // namespace midscope
