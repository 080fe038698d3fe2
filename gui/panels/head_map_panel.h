// SPDX-License-Identifier: GPL-3.0-or-later
// The head map with the choice of what it shows: the position-awareness score of A, B or their
// difference; of a file with a scan over heads also the scan's effects.
#pragma once

#include "gui/base/view_types.h"
#include "gui/panels/panel.h"
#include "gui/plots/scan_views.h"

class QComboBox;
class QLabel;

namespace midscope {

class HeadMapPlot;

class HeadMapPanel : public Panel {
  Q_OBJECT

 public:
  explicit HeadMapPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  HeadMapPlot* plot() const { return plot_; }
  MapMode mode() const;
  void SetMode(MapMode mode);

 private:
  void MakeActions();
  void Draw();
  void DrawScore();
  // The scan that is shown; null: the score.
  const Record* scan() const;
  // Whether there is something else to choose from now.
  bool OfferScan();
  // The mode of the box; kA where B has no map.
  MapMode drawn_mode() const;

  HeadMapPlot* plot_;
  QComboBox* quantity_;  // the score, then `scan_views_`; hidden where there is no scan
  std::vector<ScanView> scan_views_;
  QComboBox* mode_;
  QLabel* note_;
};

}  // namespace midscope
