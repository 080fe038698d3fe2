// SPDX-License-Identifier: GPL-3.0-or-later
// Tunes a model: a form with the options of `midscope tune`, which runs as a process of its own,
// with its losses as they come; and the losses of earlier runs, one line per run.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/panels/panel.h"

class QPushButton;

namespace midscope {

class CommandRow;
class LinesPlot;
class OptionSet;
class ParameterForm;
class ResultFiles;
class SweepProcess;

// The losses of tuning runs as lines over steps, read from the messages of a running process or
// from the record `tuning` of their files (probes/tuning/tuning_run.h).

// steps, loss and rate have one element per step that is known.
struct TuningLosses {
  QString name;
  QVector<double> steps;
  QVector<double> loss;      // nats
  QVector<double> rate;      // of the optimizer
  QVector<double> held_out;  // before, and after the run; what is not known is left out

  // Adds what a message of a running `midscope tune` says: "step 3/50: loss 3.1, rate 2e-05, ..."
  // or "held-out loss 3.3". Returns false if it is neither.
  bool AddLine(const QString& line);
};

// Reads the record `tuning` of a file. Throws Error, (failure) also if the file has none.
Record ReadTuningRecord(const ResultFiles& files, const QString& path);
// The losses of a record `tuning`. Numbers that it does not have are left out.
TuningLosses LossesOf(const Record& record, const QString& name);
// The displayed name of the run that wrote the file: for tuning.h5, the name of its folder.
QString TuningName(const QString& path);

// Draws one line per run; with `rate`, the learning rate, else the loss, and held-out losses: of
// one run as horizontal lines, of several beside their names.
void ShowLosses(const std::vector<TuningLosses>& runs, bool rate, LinesPlot& plot);

class TuningPanel : public Panel {
  Q_OBJECT

 public:
  explicit TuningPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  ParameterForm* form() const { return form_; }
  SweepProcess* process() const;
  LinesPlot* loss() const { return loss_; }
  // Arguments of the command. Throws Error (usage) if a field cannot be read or is missing.
  QStringList Arguments() const;
  // Draws the losses of these files, or of tuning.h5 in these folders. Throws Error.
  void OpenLosses(const QStringList& paths);

 Q_SIGNALS:
  // Emitted when the tuned model, or the form's model with the tuned adapter, is to be B.
  void ModelOffered(const QString& model);

 private:
  void MakeButtons();
  void Start();
  void OnLine(const QString& line);
  void OnFinished(const QString& failure, bool stopped);
  void ShowButtons();
  void Draw() override;
  // The form's folder on the engine's machine, and whether it has a file, a run, and a complete
  // one.
  QString Folder() const;
  bool Has(const char* file) const;
  bool Began() const;
  bool Tuned() const;
  QString TunedModel() const;

  ParameterForm* form_;
  LinesPlot* loss_;
  LinesPlot* rate_;
  CommandRow* row_;
  QPushButton* beside_;
  std::vector<TuningLosses> runs_;  // that are drawn
  bool live_ = false;               // whether runs_ is the running one, alone
  QString folder_;                  // of the panel's last run
  std::string model_ = "embedded";  // that the form has from the window
  double seconds_ = 0;              // per step of the last run; 0: unknown
  std::string timed_;               // the options of the last run
};

}  // namespace midscope
