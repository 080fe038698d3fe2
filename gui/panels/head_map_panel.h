// SPDX-License-Identifier: GPL-3.0-or-later
// The head map with the choice of what it shows: A, B or their difference.
#pragma once

#include "gui/base/view_types.h"
#include "gui/panels/panel.h"

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
  // The mode of the box; kA where B has no map.
  MapMode drawn_mode() const;

  HeadMapPlot* plot_;
  QComboBox* mode_;
  QLabel* note_;
};

}  // namespace midscope
