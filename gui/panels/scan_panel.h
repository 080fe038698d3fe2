// SPDX-License-Identifier: GPL-3.0-or-later
// Starts scans, which measure how much heads, layers, channels and so on matter, and shows their
// results while they run: the largest effects as bars, two-dimensional scans such as layers by
// passages as a map. Items run on top of setting A. A click makes an item setting B. The head map
// also shows scans over heads.
#pragma once

#include "gui/panels/panel.h"
#include "gui/plots/scan_views.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTabWidget;

namespace midscope {

class BarPlot;
class ParameterForm;
class RecordPlot;

class ScanPanel : public Panel {
  Q_OBJECT

 public:
  explicit ScanPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  ParameterForm* form() const { return form_; }
  BarPlot* bars() const { return bars_; }
  RecordPlot* map() const { return map_; }

 private:
  void Start();
  void Draw() override;
  void OfferViews(const Record* record);
  void ShowState(const Record* record);
  void ShowCost();
  // Sets B to the setting of the item with this name, or adds the item's term to B, as chosen.
  void Offer(const QString& item);
  const Record* ShownRecord() const;

  QTabWidget* tabs_;
  ParameterForm* form_;
  BarPlot* bars_;
  RecordPlot* map_;
  QComboBox* view_;
  QComboBox* click_;  // what a click on an item does
  QPushButton* start_;
  QLabel* note_;
  std::vector<ScanView> views_;
  QString new_view_;         // name of a view that arrived while another one was shown; "": none
  bool cost_waits_ = false;  // the cost on the button is computed when the panel is shown
};

}  // namespace midscope
