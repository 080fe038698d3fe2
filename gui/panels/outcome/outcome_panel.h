// SPDX-License-Identifier: GPL-3.0-or-later
// Plots the outcome by gold place for A and B, or for a file's settings: the sample on the screen,
// means over samples, and published lines for comparison.
#pragma once

#include <utility>

#include "gui/panels/panel.h"
#include "gui/plots/outcome_series.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace midscope {

class OutcomePlot;
class ReferenceRow;
class SettingChips;

class OutcomePanel : public Panel {
  Q_OBJECT

 public:
  explicit OutcomePanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "samples"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  OutcomePlot* plot() const { return plot_; }

 private:
  void Draw() override;
  void ShowOffer();
  std::pair<QString, QString> NoteOfModels(Measure measure) const;
  void ShowPlace();

  OutcomePlot* plot_;
  SettingChips* chips_;
  QComboBox* measure_;
  QCheckBox* sample_;
  QCheckBox* means_;
  QSpinBox* samples_;
  QPushButton* start_;
  QLabel* note_;
  ReferenceRow* reference_;
};

}  // namespace midscope
