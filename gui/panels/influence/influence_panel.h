// SPDX-License-Identifier: GPL-3.0-or-later
// Shows which tokens the answer depends on: runs `midscope influence` for the shown prompt, or for
// samples of its task at several places, under A as a separate process, and shows the gradients of
// its file, or of an opened one, as coloured text, by layer and token, along the prompt, and on the
// gold by its place.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/panels/panel.h"
#include "gui/session/sweep_process.h"

class QComboBox;
class QPushButton;
class QTabWidget;

namespace midscope {

class CommandRow;
class LinesPlot;
class ParameterForm;
class RecordPlot;
class TokenView;

class InfluencePanel : public Panel {
  Q_OBJECT

 public:
  explicit InfluencePanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  ParameterForm* form() const { return form_; }
  SweepProcess* process() const;
  QTabWidget* tabs() const { return tabs_; }
  TokenView* tokens() const { return tokens_; }
  RecordPlot* map() const { return map_; }
  LinesPlot* along() const { return along_; }
  LinesPlot* gold() const { return gold_; }
  // Arguments of the command. Throws Error (usage) if no prompt of an open model is shown, or if a
  // field cannot be read.
  QStringList Arguments() const;

 private:
  void MakeTabs();
  void MakeRow();
  void Start();
  void OnFinished(const QString& failure, bool stopped);
  void Show(std::vector<Record> records);
  // Shows a picture of the run in place of the options.
  void ShowFirstPlot();
  void Draw() override;
  void ShowCost();
  // Own text that the command reads from a file; nullopt: it reads none.
  std::optional<InputFile> OwnText() const;
  // Notes in the plots if they show another prompt or setting than the window does.
  void MarkOlder();
  std::string Gradient() const;
  QString OutFile() const;

  QTabWidget* tabs_;
  ParameterForm* form_;
  TokenView* tokens_;
  RecordPlot* map_;
  LinesPlot* along_;
  LinesPlot* gold_;
  QComboBox* gradient_;
  QComboBox* gold_value_;  // shown with the gold by place
  QPushButton* open_;
  CommandRow* row_;
  QString written_;              // the file of the panel's last run
  std::vector<Record> records_;  // that are shown
};

}  // namespace midscope
