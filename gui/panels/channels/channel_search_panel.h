// SPDX-License-Identifier: GPL-3.0-or-later
// Searches the open model for channels that carry position, or ranks the channels of the shown
// prompt. Shows a table of channels, and the chosen one's mean by position with its cubic fit. A
// button selects the chosen channel for the factor control of B.
#pragma once

#include <QString>

#include "gui/panels/channels/channel_table.h"
#include "gui/panels/panel.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTabWidget;

namespace midscope {

class ChannelTable;
class LinesPlot;
class ParameterForm;

class ChannelSearchPanel : public Panel {
  Q_OBJECT

 public:
  explicit ChannelSearchPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  static std::string StateKey() { return "channel_search"; }
  static void CheckState(const JsonFields& session);
  nlohmann::json State() const override;  // The values of the form.
  void Restore(const nlohmann::json& state) override;
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  ParameterForm* form() const { return form_; }
  ChannelTable* table() const { return table_; }
  LinesPlot* plot() const { return plot_; }

 private:
  QWidget* MakeResults();
  void Search();
  void RankPrompt();
  void ShowNext(const char* name);
  void PutOnKnob();
  void Draw() override;
  void OfferRecords();
  void FillTable(const Record* record);
  void OfferLayers();
  void DrawCurves();
  void ShowOlder();
  void ShowState();
  void ShowCost();
  QString SearchText(const Record& record) const;
  const Record* ShownRecord() const;
  ChannelScaling ScalingOf(const RankedChannel& channel) const;

  QTabWidget* tabs_;
  ParameterForm* form_;
  QWidget* results_;
  ChannelTable* table_;
  LinesPlot* plot_;
  QComboBox* record_;  // chooses the search or the shown prompt
  QComboBox* layer_;   // layer of the curve
  QPushButton* search_;
  QPushButton* rank_prompt_;
  QPushButton* put_on_knob_;
  QLabel* note_;
  QString wanted_;  // name of the last requested record; "" once it is shown
};

}  // namespace midscope
