// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a sweep of the shown request: the prompt's task over samples and places, under A, B and
// further settings; own text at its places. The cost is shown first. The sweep is a separate
// process `midscope sweep`, whose command can be copied for use on a cluster. The process is
// suspended while a slider is dragged.
#pragma once

#include <QTimer>
#include <optional>

#include "gui/panels/panel.h"
#include "gui/session/sweep_process.h"

class QPlainTextEdit;
class QPushButton;

namespace midscope {

class CommandRow;
class ParameterForm;

class SweepPanel : public Panel {
  Q_OBJECT

 public:
  explicit SweepPanel(const PanelContext& context);

  void Refresh(Changes changes) override;

  ParameterForm* form() const { return form_; }
  SweepProcess* sweep() const;
  QString table() const;
  // Arguments of the command. Throws Error (usage) if no prompt of an open model is shown, or if a
  // field cannot be read.
  QStringList Arguments() const;

 private:
  void MakeButtons();
  // Starts the sweep or, if `dry`, a run of one prompt that measures its cost. Throws Error.
  void Run(bool dry);
  void OnFinished(const QString& failure, bool stopped);
  void OnRelease();
  void ShowButtons();
  void ShowCost();
  QString OutFile() const;
  // Own text, which the command reads from a file beside the results; nullopt: a task is shown.
  std::optional<InputFile> OwnText() const;

  ParameterForm* form_;
  CommandRow* row_;
  QPushButton* cost_;
  QPushButton* open_;
  QPlainTextEdit* table_;
  QTimer release_;           // running while the sweep is suspended; resumes it
  bool is_dry_run_ = false;  // whether the process is a dry run
};

}  // namespace midscope
