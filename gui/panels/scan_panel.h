// SPDX-License-Identifier: GPL-3.0-or-later
// Starts scans (which heads, layers, channels ... matter) and shows them while they run: the
// largest as bars, layers by passages and the like as a map. A click puts the item's term on
// setting B. The head map shows scans over heads, too.
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
  void DrawWaiting() override;
  std::vector<Plot*> plots() const override;

  ParameterForm* form() const { return form_; }
  BarPlot* bars() const { return bars_; }
  RecordPlot* map() const { return map_; }

 private:
  void Start();
  void Draw();
  void OfferViews(const Record* record);
  void ShowState(const Record* record);
  // Puts the term of the item of this name on setting B.
  void Offer(const QString& item);
  const Record* ShownRecord() const;

  QTabWidget* tabs_;
  ParameterForm* form_;
  BarPlot* bars_;
  RecordPlot* map_;
  QComboBox* view_;
  QPushButton* start_;
  QLabel* note_;
  std::vector<ScanView> views_;
  bool waits_ = false;  // for the panel to be shown
};

}  // namespace midscope
